// The OpenAPI document is complete: every JSON success has an example, every response its headers. Spec: Conventions.
import { describe, expect, it } from 'vitest';
import document from '../../../runtime/api/openapi.json' with { type: 'json' };
import { parseStorageEvents } from '../../../runtime/core/resources/storage-event.ts';
import { parseEmbedOrigin, parseHostname } from '../../../runtime/core/resources/web-address.ts';

type Schema = { $ref?: string; example?: unknown; examples?: unknown };
type Media = { schema: Schema; example?: unknown; examples?: unknown };
type Answer = {
  headers?: Record<string, { $ref?: string; schema?: { const?: string } }>;
  content?: Record<string, Media>;
};

const schemas = document.components.schemas as Record<string, Schema>;
const successes = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { responses }]) =>
    Object.entries(responses as Record<string, Answer>)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, answer]) => ({ name: `${method.toUpperCase()} ${path} ${status}`, answer })),
  ),
);

function hasExample(media: Media): boolean {
  return shownOf(media) !== undefined;
}

/** The example that readers see: the response's own, or else its schema's. */
function shownOf({ schema, ...media }: Media): unknown {
  const record = schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  return [media, record].flatMap(({ example, examples }) => example ?? examples ?? []).at(0);
}

function expectAlike(
  { pattern = '' }: { pattern?: string },
  parse: (text: string) => string | undefined,
  texts: readonly string[],
): void {
  const taken = texts.filter((text) => parse(text) !== undefined);
  expect(texts.filter((text) => new RegExp(pattern).test(text))).toEqual(taken);
}

describe('the OpenAPI document', () => {
  it.each(successes)(
    '$name has an example, if it is JSON, and declares x-request-id and Cache-Control',
    ({ answer: { headers, content } }) => {
      const json = content?.['application/json'];
      expect(json === undefined || hasExample(json)).toBe(true);
      expect(Object.keys(headers ?? {})).toEqual(
        expect.arrayContaining(['x-request-id', 'Cache-Control']),
      );
    },
  );

  it('has a description for every parameter', () => {
    type Parameter = { name: string; description?: string };
    const silent = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods)
        .flatMap(({ parameters = [] }: { parameters?: Parameter[] }) => parameters)
        .filter(({ description = '' }) => description === '')
        .map(({ name }) => `${path} ${name}`),
    );
    expect(silent).toEqual([]);
  });

  it('shows how to send the bytes only in the responses that create an upload', () => {
    const shown = successes.flatMap(({ name, answer: { content } }) => {
      const json = content?.['application/json'];
      return json === undefined ? [] : [{ name, example: JSON.stringify(shownOf(json)) }];
    });
    const withWay = shown.filter(({ example }) => /"(direct|multipart|proxy)":\{/.test(example));
    expect(withWay.map(({ name }) => name)).toEqual([
      'POST /v1/projects/{slug}/uploads 201',
      'POST /v1/library/uploads 201',
    ]);
  });

  it('shows an uploaded, not yet ready upload in the response to complete', () => {
    const shown = successes
      .filter(({ name }) => name.endsWith('/complete 200'))
      .map(({ answer: { content } }) => shownOf(content?.['application/json'] as Media));
    const isTaken = expect.objectContaining({ status: 'uploaded', ready_at: null });
    expect(shown).toEqual([isTaken, isTaken]);
  });

  it('shows a storage event whose key names an upload', () => {
    const { post } = document.paths['/v1/internal/storage-events'];
    const { example } = post.requestBody.content['application/json'];
    const keys = parseStorageEvents(example)?.map(({ key }) => key);
    expect(keys).toEqual([expect.stringMatching(/^prj_[0-9a-z]{26}\/upl_[0-9a-z]{26}$/)]);
  });

  it('documents 422 for a failed upload and 410 for an expired one when completing it', () => {
    for (const path of [
      '/v1/projects/{slug}/uploads/{id}/complete',
      '/v1/library/uploads/{id}/complete',
    ] as const) {
      const { 410: expired, 422: failed } = document.paths[path].post.responses;
      expect(expired.$ref).toMatch(/upload_expired/);
      expect(failed.description).toMatch(/processing_abandoned/);
      expect(failed.description).not.toMatch(/session_expired/);
    }
  });

  it('declares Cache-Control: no-store, except for cacheable responses such as /v1/public/status', () => {
    expect(document.components.headers['Cache-Control'].schema.const).toBe('no-store');
    const kept = successes.filter(({ answer }) => answer.headers?.['Cache-Control']?.schema);
    expect(kept.map(({ name }) => name)).toContain('GET /v1/public/status 200');
  });

  it('declares 503 for every operation below /v1', () => {
    const asking = Object.entries(document.paths).filter(([path]) => path.startsWith('/v1/'));
    const silent = asking.flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        '503' in responses ? [] : [`${method.toUpperCase()} ${path}`],
      ),
    );
    expect(silent).toEqual([]);
  });

  it('has a pattern for custom domains that accepts what the service accepts', () => {
    const { patch } = document.paths['/v1/staff/projects/{slug}'];
    const { custom_domains } = patch.requestBody.content['application/json'].schema.properties;
    const hosts = ['img.shop.example', 'IMG.Shop.Example', 'xn--bcher-kva.example', '1.example'];
    const others = [
      '',
      'localhost',
      '192.0.2.1',
      'a.b.',
      '*.a.example',
      'a_b.example',
      'a.example:80',
    ];
    const long = `${'a'.repeat(64)}.example`;
    expectAlike(custom_domains.items, parseHostname, [...hosts, ...others, long]);
  });

  it('has a pattern for allowed origins that accepts what the service accepts', () => {
    const { patch } = document.paths['/v1/projects/{slug}/libraries/{lib}'];
    const { allowed_origins } = patch.requestBody.content['application/json'].schema.properties;
    const origins = ['https://W.example:8443', 'https://[::1]', 'http://127.0.0.1:80'];
    const others = [
      'https://*.example',
      'https://a@b.example',
      'http://a.example',
      'http://localhost:0',
    ];
    const paths = ['https://a.example/', 'https://a.example?x', 'https://a.example:0', 'https://'];
    expectAlike(allowed_origins.items, parseEmbedOrigin, [...origins, ...others, ...paths]);
  });

  // The page at /docs resolves references without decoding them.
  it('refers only to named components', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
    const found = [...references].map(([, reference = '']) => reference);
    expect(found.length).toBeGreaterThan(500);
    const odd = found.filter((each) => !/^#\/components\/\w+\/[\w.-]+$/.test(each));
    expect(odd).toEqual([]);
  });
});
