/** Request bodies and queries of the API: their JSON, and the schema of each endpoint. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'node:querystring';
import type { EndpointFacts } from '../../../runtime/api/endpoint.ts';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { parseJson } from '../../../runtime/api/middleware/parse-json.ts';
import { parseBody, parseQuery } from '../../../runtime/api/parse-input.ts';
import { factOfProviderA } from '../../../runtime/core/billing/provider-a-fact.ts';
import {
  factOfProviderB,
  statusOfProviderB,
} from '../../../runtime/core/billing/provider-b-fact.ts';
import { ServiceError } from '../../../runtime/core/errors.ts';
import { REQUEST_BODY_VALUES_MAX } from '../../../runtime/core/limits.ts';
import { providerAEventBody, providerBEventBody } from '../../../runtime/core/resources/inbound.ts';
import { parseParts } from '../../../runtime/core/resources/part-list.ts';
import {
  candidateKeys,
  parseStorageEvents,
} from '../../../runtime/core/resources/storage-event.ts';
import { isStorable } from '../../../runtime/core/text.ts';
import { bytes, refusals, type Target, text } from '../target.ts';
import { parseJson as parseJsonText } from './parse-json.ts';

const OPENAPI = new URL('../../../runtime/api/openapi.json', import.meta.url);

type Example = { method: string; path: string; body: unknown };

/** Returns the example bodies of the OpenAPI document. */
function examples(): Example[] {
  const { paths } = JSON.parse(readFileSync(OPENAPI, 'utf8')) as {
    paths: Record<string, Record<string, { requestBody?: { content?: Record<string, Content> } }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const content = requestBody?.content?.['application/json'];
      const shown = Object.values(content?.examples ?? {}).map(({ value }) => value);
      return [content?.example, ...shown]
        .filter((body) => body !== undefined)
        .map((body) => ({ method: method.toUpperCase(), path, body }));
    }),
  );
}
type Content = { example?: unknown; examples?: Record<string, { value: unknown }> };

const bodyOf = (path: RegExp) => () =>
  examples()
    .filter((each) => path.test(each.path))
    .map(({ body }) => JSON.stringify(body));

/**
 * Expects that PostgreSQL can store all strings, because otherwise the endpoint would answer 500.
 */
function assertStorable(value: unknown): void {
  if (typeof value === 'string')
    assert.ok(isStorable(value), `not storable: ${JSON.stringify(value)}`);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, field] of Object.entries(value)) {
    assertStorable(name);
    if (!JUDGED_BY_ACTIONS.has(name)) assertStorable(field);
  }
}

/** Fields that an action rejects with a specific code; tests of the API cover these. */
const JUDGED_BY_ACTIONS = new Set(['slug', 'folder', 'subject']);

const json = bytes({
  name: 'json-bodies',
  seeds: () => [
    ...examples().map(({ body }) => Buffer.from(JSON.stringify(body))),
    Buffer.from('{"a":{"b":[1,2,{"\\u0061":"x\\"y"}]},"a ":null}'),
    Buffer.from(`${'['.repeat(70)}${']'.repeat(70)}`),
  ],
  run(input) {
    const value = parseJson(input, CLEAR);
    if (value === undefined) return undefined;
    const text = JSON.stringify(value);
    assert.equal(text.match(/"__proto__":/g), null);
    // Compares texts, because JSON.stringify changes numbers such as 1e400 and -0.
    assert.equal(JSON.stringify(parseJson(Buffer.from(text), CLEAR)), text);
    return value;
  },
  refuses: (error) =>
    refusals(ServiceError, 'invalid_json')(error) ||
    refusals(ServiceError, 'invalid_request')(error),
});

/** The first line of the input selects the endpoint; any other line selects one by its length. */
function endpointOf(line: string, among: readonly EndpointFacts[]): number {
  const named = among.findIndex(({ method, path }) => line === `${method} ${path}`);
  return named < 0 ? line.length % among.length : named;
}

const ISSUES_MAX = 101;
const withIssues = (error: unknown) => {
  if (!refusals(ServiceError, 'invalid_request')(error)) return false;
  const { issues } = (error as ServiceError).details as {
    issues: { path: string; message: string }[];
  };
  assert.ok(issues.length > 0 && issues.length <= ISSUES_MAX);
  assert.ok(issues.every(({ path, message }) => typeof path === 'string' && message !== ''));
  return true;
};

const withBody = endpoints.filter(({ body }) => body !== null);
/** Endpoints that parse the body further in code with targets of its own. */
const JUDGED_LATER = new Set([
  'POST /v1/billing/providera/webhook',
  'POST /v1/billing/providerb/webhook',
  'POST /v1/internal/storage-events',
  'POST /v1/projects/{slug}/uploads/{id}/complete',
  'POST /v1/library/uploads/{id}/complete',
]);

const bodies = text({
  name: 'bodies-of-endpoints',
  length_max: 20_000,
  seeds: () =>
    examples().map(({ method, path, body }) => `${method} ${path}\n${JSON.stringify(body)}`),
  run(input) {
    const [first = '', ...rest] = input.split('\n');
    const endpoint = withBody[endpointOf(first, withBody)];
    const value = parseJsonText(rest.join('\n'));
    if (endpoint?.body == null || value === undefined) return undefined;
    const read = parseBody(endpoint.body, value);
    if (!JUDGED_LATER.has(`${endpoint.method} ${endpoint.path}`)) assertStorable(read);
    return { endpoint: endpoint.path, read };
  },
  refuses: withIssues,
});

const withQuery = endpoints.filter(({ query }) => query !== null);
const QUERIES = [
  'limit=20&cursor=abc&status=active&q=cat',
  'library=team&folder=Summer%2F2026&recursive=true&search=cats&bbox=13.1,52.3,13.8,52.7&sort=taken&include=location',
  'from=2026-11-01T00:00:00Z&to=2026-11-20T00:00:00Z&by=day',
  'o=https%3A%2F%2Fshop.example&exp=1800000000&kid=k1&s=abc',
];

const queries = text({
  name: 'queries-of-endpoints',
  seeds: () =>
    withQuery.flatMap(({ method, path }) => QUERIES.map((query) => `${method} ${path}\n${query}`)),
  run(input) {
    const [first = '', ...rest] = input.split('\n');
    const endpoint = withQuery[endpointOf(first, withQuery)];
    const read = parseQuery(endpoint?.query ?? undefined, parse(rest.join('\n')));
    return { endpoint: endpoint?.path, read };
  },
  refuses: withIssues,
});

const parts = text({
  name: 'part-lists',
  seeds: () => [
    JSON.stringify([1, 2, 3].map((part_number) => ({ part_number, etag: `"${part_number}"` }))),
    '[{"part_number":2,"etag":"b"},{"part_number":1,"etag":"a"},{"part_number":3,"etag":"c"}]',
  ],
  run(input) {
    const read = parseParts(parseJsonText(input), 3);
    assert.deepEqual(
      read.map(({ part_number }) => part_number),
      [1, 2, 3],
    );
    assertStorable(read);
    return read;
  },
  refuses: refusals(ServiceError, 'invalid_parts'),
});

const KEY = 'ingest/upl_01kbr40c2m6r8n4t7y9w3x5vqh';
const record = { eventName: 'ObjectCreated:Put', s3: { object: { key: KEY } } };

const storageEvents = text({
  name: 'storage-events',
  seeds: () =>
    [
      { events: [{ event: 'ObjectCreated', key: `${KEY}+%20` }] },
      { Records: [record, { Records: [record] }] },
      { EventName: 's3:ObjectCreated:Put', Key: `bucket/${KEY}` },
      { Type: 'Notification', Message: JSON.stringify({ Records: [record] }) },
      { 'detail-type': 'Object Created', detail: { object: { key: KEY } } },
    ].map((event) => JSON.stringify(event)),
  run(input) {
    const events = parseStorageEvents(parseJsonText(input));
    const keys = events?.flatMap(({ key }) => (key === undefined ? [] : candidateKeys(key)));
    assert.ok(keys?.every((key) => typeof key === 'string') ?? true);
    return events;
  },
});

const providerA = text({
  name: 'events-of-provider-a',
  length_max: 16_000,
  seeds: bodyOf(/providera\/webhook/),
  run: (input) => {
    const event = parseBody(providerAEventBody, parseJsonText(input) ?? null);
    const fact = factOfProviderA(event);
    // The price is only compared, never stored.
    assertStorable({ ...fact, price: undefined });
    return fact;
  },
  refuses: withIssues,
});

const providerB = text({
  name: 'events-of-provider-b',
  length_max: 16_000,
  seeds: bodyOf(/providerb\/webhook/),
  run: (input) => {
    const event = parseBody(providerBEventBody, parseJsonText(input) ?? null);
    statusOfProviderB(event.object);
    const mode = event.object['mode'] === 'test' ? 'test' : 'live';
    const fact = factOfProviderB(event, mode);
    // The price is only compared, never stored.
    assertStorable({ ...fact, price: undefined });
    return fact;
  },
  refuses: (error) => withIssues(error) || refusals(ServiceError, 'providerb_mode_mismatch')(error),
});

const CLEAR = { values_max: REQUEST_BODY_VALUES_MAX, keys: 'clear' } as const;

export const bodyTargets: readonly Target[] = [
  json,
  bodies,
  queries,
  parts,
  storageEvents,
  providerA,
  providerB,
];
