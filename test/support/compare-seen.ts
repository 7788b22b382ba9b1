/**
 * Compares the answers that a whole run has seen with the specification: test/spec/unseen.json lists the rows that no
 * test has produced yet, and must be exact.
 */
import additions from '../spec/additions.json' with { type: 'json' };
import specification from '../spec/endpoints.json' with { type: 'json' };
import errors from '../spec/errors.json' with { type: 'json' };
import notBuiltRows from '../spec/not-built.json' with { type: 'json' };
import unseen from '../spec/unseen.json' with { type: 'json' };
import type { SeenRow } from './seen.ts';

/** Empty once everything is built. */
const notBuilt: readonly string[] = notBuiltRows;

/** One sentence for each misplaced row; none if the list is exact. */
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

/** The endpoint of a code that the specification lists by status only: any may answer it. */
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

/** Answered by a customer's server with the upload helper. */
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
