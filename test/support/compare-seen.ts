/**
 * Compares the responses seen by a whole test run with the specification. test/spec/unseen.json lists the rows that no
 * test produces yet, and must be exact.
 */
import additions from '../spec/additions.json' with { type: 'json' };
import specification from '../spec/endpoints.json' with { type: 'json' };
import errors from '../spec/errors.json' with { type: 'json' };
import notBuiltRows from '../spec/not-built.json' with { type: 'json' };
import unseen from '../spec/unseen.json' with { type: 'json' };
import type { SeenRow } from './seen.ts';

/** Endpoints that do not exist yet; empty once all of them do. */
const notBuilt: readonly string[] = notBuiltRows;

/** Returns one sentence for each row that is missing or superfluous in the list. */
export function compareSeen(seen: readonly SeenRow[], listed: readonly SeenRow[] = unseen) {
  const produced = new Set(
    seen.flatMap((row) => [print(row), print({ ...row, endpoint: ANYWHERE })]),
  );
  const excused = new Set(listed.map(print));
  const stale = [...excused]
    .filter((row) => produced.has(row))
    .map((row) => `${row} was seen: remove it from test/spec/unseen.json`);
  const missing = [...expectedRows()]
    .filter((row) => !produced.has(row) && !excused.has(row))
    .map((row) => `${row} was produced by no test and is not in test/spec/unseen.json`);
  return [...stale, ...missing];
}

/** Stands for any endpoint: the specification lists some codes only by status. */
const ANYWHERE = '*';

function print({ endpoint, status, code }: SeenRow): string {
  return `${endpoint}: ${status}${code === null ? '' : ` ${code}`}`;
}

function expectedRows(): Set<string> {
  const isBuilt = ({ method, path }: { method: string; path: string }) =>
    !notBuilt.includes(`${method} ${path}`);
  const built = [...specification.rows, ...additions.endpoints].filter(isBuilt);
  return new Set([...built.flatMap(rowsOf), ...codesOfNoEndpoint()].map(print));
}

type Answer = { status: number; code: string | null };
type Endpoint = { method: string; path: string; ok: number[]; refused: Answer[] };

function rowsOf({ method, path, ok, refused }: Endpoint): SeenRow[] {
  const endpoint = `${method} ${path}`;
  return [
    ...ok.map((status) => ({ endpoint, status, code: null })),
    ...refused.map(({ status, code }) => ({ endpoint, status, code })),
  ];
}

/** Returned by a customer's server that uses the upload helper, never by the API. */
const OF_THE_HELPER = 'invalid_token';

function codesOfNoEndpoint(): SeenRow[] {
  const owned = new Set<string | null>(
    specification.rows.flatMap((row: Endpoint) => row.refused.map(({ code }) => code)),
  );
  const reserved = new Set([OF_THE_HELPER, ...additions.reserved.map(({ code }) => code)]);
  return errors.api.rows
    .filter(({ code }) => !owned.has(code) && !reserved.has(code))
    .map(({ status, code }) => ({ endpoint: ANYWHERE, status, code }));
}
