// Spec: Endpoints. The API has the endpoints of the specification and the additions, except those listed as not built
// yet, each with its credentials, statuses and codes.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { endpoints as built } from '../../runtime/api/endpoints.ts';
import additions from './additions.json' with { type: 'json' };
import { differences, NONE, type Table } from './differences.ts';
import specification from './endpoints.json' with { type: 'json' };
import notBuiltRows from './not-built.json' with { type: 'json' };
import notTaken from './not-taken.json' with { type: 'json' };
import unseen from './unseen.json' with { type: 'json' };

/** Must be empty in the end. */
const notBuilt: readonly string[] = notBuiltRows;

type Row = {
  method: string;
  path: string;
  surface?: string;
  credentials: string[];
  ok: number[];
  refused: { status: number; code: string | null }[];
  request: { body?: Fields; query?: Fields };
  body_limit_bytes?: number;
  aliases?: Record<string, string | undefined>;
};
type Fields = { required?: string[]; optional?: string[] };

const rows: Row[] = [...specification.rows, ...additions.endpoints];
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
// Rows with a `surface` belong to the delivery host, or are addresses that a session contains.
const ofTheApi = rows.filter((row) => row.surface === undefined);
const expected = ofTheApi.filter((row) => !notBuilt.includes(nameOf(row)));
const byName = new Map(built.map((endpoint) => [nameOf(endpoint), endpoint]));

// Codes that any operation can answer, so that endpoints need not list them (Conventions).
const ANYWHERE = new Set([
  'invalid_request',
  'invalid_json',
  'invalid_cursor',
  'unauthorized',
  'forbidden',
  'not_found',
  'payload_too_large',
  'rate_limited',
  'internal',
  'storage_unavailable',
]);

// Codes that no test has produced yet need not be declared; unseen.json must be empty in the end.
const unproduced = new Set(
  (unseen as { endpoint: string; code: string | null }[]).map(
    (row) => `${row.endpoint}: ${row.code}`,
  ),
);
const laterFields: Record<string, string[] | undefined> = notTaken;

const names = (all: readonly string[]): Table =>
  Object.fromEntries(all.map((name) => [name, true]));

describe('the endpoints', () => {
  it('are those of the specification and the additions, except those not built yet', () => {
    expect(differences(names(expected.map(nameOf)), names(built.map(nameOf)))).toEqual(NONE);
  });

  it('appear once each, in the order of the specification', () => {
    const order = specification.rows.map(nameOf).filter((name) => byName.has(name));
    expect(built.map(nameOf).filter((name) => order.includes(name))).toEqual(order);
    expect(byName.size).toBe(built.length);
  });

  it('are not listed as not built once they are built', () => {
    expect(notBuilt.filter((name) => byName.has(name))).toEqual([]);
  });
});

describe.each(expected.map((row) => ({ name: nameOf(row), row })))('$name', ({ name, row }) => {
  const endpoint = byName.get(name);

  it('takes the specified credentials', () => {
    const credentials: readonly string[] = endpoint?.auth ?? [];
    const asWritten = credentials.map((each) => (each === 'key' ? 'key:any' : each));
    expect(asWritten.toSorted()).toEqual(row.credentials.toSorted());
  });

  it('succeeds with a specified status', () => {
    expect(row.ok).toContain(endpoint?.ok);
  });

  it('declares every specified error code of its own', () => {
    const codes = row.refused.map((answer) => answer.code).filter((code) => code !== null);
    const own = new Set<string>(endpoint?.errors);
    const undeclared = codes.filter((code) => !own.has(code) && !ANYWHERE.has(code));
    expect(undeclared.filter((code) => !unproduced.has(`${name}: ${code}`))).toEqual([]);
  });

  it('takes bodies up to the specified limit', () => {
    const limit = row.body_limit_bytes;
    expect(limit === undefined || endpoint?.body_bytes_max === limit).toBe(true);
  });

  it('takes the specified fields in body and query, and no other', () => {
    const { body, query } = row.request;
    const later = laterFields[name] ?? [];
    const specified = [
      ...[body, query].flatMap((each) => [...(each?.required ?? []), ...(each?.optional ?? [])]),
      ...Object.keys(row.aliases ?? {}),
    ].filter((field) => !later.includes(field));
    const taken = [...fieldsOf(endpoint?.body), ...fieldsOf(endpoint?.query)];
    expect(differences(names(specified), names(taken))).toEqual(NONE);
  });
});

/** The fields that a body or query accepts. */
function fieldsOf(schema: z.ZodType | null | undefined): string[] {
  if (!schema) return [];
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const shapes = [json, ...(json.anyOf ?? [])];
  return shapes.flatMap((shape) =>
    typeof shape === 'object' ? Object.keys(shape.properties ?? {}) : [],
  );
}
