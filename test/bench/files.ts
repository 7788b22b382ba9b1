/**
 * The latency of one page of a project's file list with ten million files, compared with a thousand files: the whole
 * API call, including HTTP, key and JSON. TINTYPE_BENCH_FILES changes the number of files.
 */
import { printCursor } from '../../runtime/core/cursor.ts';
import { deriveKey } from '../../runtime/core/signing/hmac.ts';
import { createDatabase } from '../../runtime/db/client.ts';
import { withKey } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { makeManyFiles } from '../support/many-files.ts';
import { type Figure, figure } from './figure.ts';

const MANY = Number(process.env['TINTYPE_BENCH_FILES'] ?? 10_000_000);
const FEW = 1_000;
const RUNS = 60;
const WARMING_RUNS = 10;
const LIMIT = 50;
const FILL_MS = 3_600_000;

/** The pages to measure. test/support/many-files.ts documents how rare each prefix is. */
const pages: readonly { name: string; status?: string; q?: string; is_deep?: true }[] = [
  { name: 'the newest' },
  { name: 'blocked ones, the oldest', status: 'blocked' },
  { name: 'from the middle', is_deep: true },
  { name: 'a prefix that nearly all have', q: 'img-' },
  { name: 'a prefix of one in a thousand', q: 'mid-' },
  { name: 'a prefix of the oldest fiftieth', q: 'old-' },
  { name: 'a prefix that none has', q: 'none-' },
];

/** `running` starts a separate Tintype for each number of files. */
export async function measureFiles(
  running: (measure: (tintype: Tintype) => Promise<number[][]>) => Promise<number[][]>,
): Promise<Figure[]> {
  const few = await running((tintype) => measurePages(tintype, FEW));
  const many = await running((tintype) => measurePages(tintype, MANY));
  return pages.flatMap(({ name }, at) => {
    const small = figure(`50 of ${FEW} files: ${name}`, 'ms', few[at] ?? []);
    const large = figure(`50 of ${MANY} files: ${name}`, 'ms', many[at] ?? []);
    return [small, large, figure('… times', '', [large.median / small.median])];
  });
}

async function measurePages(tintype: Tintype, count: number): Promise<number[][]> {
  const { api_key, project_slug, database_url } = tintype.instance;
  const call = withKey(tintype, api_key);
  const { project_id } = (await call('GET', `/v1/projects/${project_slug}`)).body;
  const limits = { queryTimeoutMs: FILL_MS, idleTransactionTimeoutMs: FILL_MS };
  const db = createDatabase({ url: database_url, ...limits });
  const started = performance.now();
  await makeManyFiles(db, { project_id, count });
  await db.close();
  process.stderr.write(
    `${count} files after ${((performance.now() - started) / 1000).toFixed(0)} s\n`,
  );
  const times: number[][] = [];
  for (const { status, q, is_deep } of pages) {
    const filter = { ...(status && { status }), ...(q && { q }) };
    const cursor = is_deep && { cursor: cursorBelow(count / 2, { tintype, project_id }) };
    const query = new URLSearchParams({ ...filter, ...cursor, limit: String(LIMIT) });
    times.push(await measure(() => call('GET', `/v1/projects/${project_slug}/files?${query}`)));
  }
  return times;
}

async function measure(ask: () => Promise<{ status: number }>): Promise<number[]> {
  const times: number[] = [];
  for (let run = -WARMING_RUNS; run < RUNS; run += 1) {
    const started = performance.now();
    const { status } = await ask();
    if (status !== 200) throw new Error(`a list was answered ${status}`);
    if (run >= 0) times.push(performance.now() - started);
  }
  return times;
}

/** Prints a cursor like the API, because it would take too long to turn that many pages. */
function cursorBelow(
  position: number,
  { tintype, project_id }: { tintype: Tintype; project_id: string },
): string {
  const [, key = ''] = tintype.instance.token_keys.split(',')[0]?.split(':') ?? [];
  const scope = {
    route: '/v1/projects/{slug}/files',
    project_id,
    sort: 'newest',
    filters: JSON.stringify({ status: null, q: null, library: null }),
  };
  return printCursor([deriveKey(Buffer.from(key, 'base64'), 'cur1')], scope, [
    String(Math.floor(position)),
  ]);
}
