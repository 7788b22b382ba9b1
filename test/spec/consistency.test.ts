// The files of this folder agree with one another: names, codes and lists that refer to rows.
import { describe, expect, it } from 'vitest';
import additions from './additions.json' with { type: 'json' };
import endpoints from './endpoints.json' with { type: 'json' };
import errors from './errors.json' with { type: 'json' };
import limits from './limits.json' with { type: 'json' };
import notBuiltRows from './not-built.json' with { type: 'json' };
import notTaken from './not-taken.json' with { type: 'json' };
import refusals from './refusals.json' with { type: 'json' };
import unseen from './unseen.json' with { type: 'json' };

/** Must be empty in the end. */
const notBuilt: readonly string[] = notBuiltRows;

type Answer = { status: number; code: string | null };
type Fields = { required?: string[]; optional?: string[] };
type Endpoint = {
  method: string;
  path: string;
  ok: number[];
  refused: Answer[];
  request: { body?: Fields; query?: Fields };
};
type Unseen = Answer & { endpoint: string };

const rows: Endpoint[] = [...endpoints.rows, ...additions.endpoints];
const nameOf = (row: Endpoint) => `${row.method} ${row.path}`;
const fieldsOf = ({ request }: Endpoint) =>
  [request.body, request.query].flatMap((each) => [
    ...(each?.required ?? []),
    ...(each?.optional ?? []),
  ]);
const names = new Set(rows.map(nameOf));
const pair = ({ status, code }: Answer) => `${status} ${code}`;
const codes = new Set([...errors.api.rows, ...errors.delivery.rows, ...additions.errors].map(pair));
const isTwice = (name: string, index: number, all: readonly string[]) =>
  all.indexOf(name) !== index;

describe('the files of the specification', () => {
  it('name every endpoint once', () => {
    expect(rows.map(nameOf).filter(isTwice)).toEqual([]);
  });

  it('list as not built only endpoints that exist, each once', () => {
    expect(notBuilt.filter((name) => !names.has(name))).toEqual([]);
    expect(notBuilt.filter(isTwice)).toEqual([]);
  });

  it('list as not taken only fields of endpoints that are built', () => {
    const strange = Object.entries<string[]>(notTaken).flatMap(([name, fields]) => {
      const row = rows.find((each) => nameOf(each) === name);
      const known = row && !notBuilt.includes(name) ? fieldsOf(row) : [];
      return fields.filter((field) => !known.includes(field)).map((field) => `${name}: ${field}`);
    });
    expect(strange).toEqual([]);
  });

  it('have every code of an endpoint in the table of codes, with that status', () => {
    const unknown = rows.flatMap((row) =>
      row.refused
        .filter((answer) => answer.code !== null && !codes.has(pair(answer)))
        .map((answer) => `${nameOf(row)}: ${pair(answer)}`),
    );
    expect(unknown).toEqual([]);
  });

  it('have every code of a delivery refusal in the table of codes, with that status', () => {
    const all = refusals.rows.flatMap(({ status, codes: each }) =>
      each.map((code) => pair({ status, code })),
    );
    expect(all.filter((each) => !codes.has(each))).toEqual([]);
    expect(refusals.rows).toHaveLength(12);
  });

  it('list as unseen only specified responses, each once', () => {
    const specified = new Set([
      ...rows.flatMap((row) => row.ok.map((status) => `${nameOf(row)}: ${status} null`)),
      ...rows.flatMap((row) => row.refused.map((answer) => `${nameOf(row)}: ${pair(answer)}`)),
      ...errors.api.rows.map((row) => `*: ${pair(row)}`),
    ]);
    const listed = (unseen as Unseen[]).map((row) => `${row.endpoint}: ${pair(row)}`);
    expect(listed.filter((name) => !specified.has(name))).toEqual([]);
    expect(listed.filter(isTwice)).toEqual([]);
  });

  it('never expect an answer whose code is reserved', () => {
    const reserved = new Set(additions.reserved.map(pair));
    expect((unseen as Unseen[]).filter((row) => reserved.has(pair(row)))).toEqual([]);
  });

  it('give a sentence for every limit and a reason for every addition', () => {
    expect(limits.rows.filter((row) => row.sentence === '')).toEqual([]);
    const reasons = Object.values(additions).flat();
    expect(reasons.filter((row) => row.reason.length < 10)).toEqual([]);
  });
});
