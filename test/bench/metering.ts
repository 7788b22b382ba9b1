/**
 * The cost of summing and charging an hour with five million deliveries in the worst case, where each delivery has its
 * own row.
 * TINTYPE_BENCH_EVENTS changes the number of deliveries.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type Database } from '../../runtime/db/client.ts';
import { migrate } from '../../runtime/db/migrate.ts';
import { jobs } from '../../runtime/jobs/table.ts';
import { startPostgres } from '../../runtime/standalone/postgres.ts';
import { makeJobs } from '../support/jobs.ts';
import { makeProject } from '../support/rows.ts';
import { type Figure, figure } from './figure.ts';

const EVENTS = Number(process.env['TINTYPE_BENCH_EVENTS'] ?? 5_000_000);
const PROJECTS = 100;
const HOUR = '2026-11-19T10:00:00Z';

export async function measureMetering(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tintype-metering-'));
  const postgres = await startPostgres({ folder, settings: { fsync: 'off' } });
  await migrate(postgres.url);
  // The timeout of a job's own connection.
  const db = createDatabase({ url: postgres.url, queryTimeoutMs: 600_000 });
  try {
    return await measure(db);
  } finally {
    await db.close();
    await postgres.stop();
    rmSync(folder, { recursive: true });
  }
}

async function measure(db: Database): Promise<Figure[]> {
  const ids: string[] = [];
  for (let count = 0; count < PROJECTS; count++) ids.push((await makeProject(db)).project_id);
  await fill(db, ids);
  const test = await makeJobs(db);
  test.clock.set(new Date('2026-11-20T00:05:00Z'));
  const seconds = async (work: () => Promise<unknown>) => {
    const began = performance.now();
    await work();
    return (performance.now() - began) / 1000;
  };
  const at = new Date('2026-11-20T00:20:00Z');
  const first = await seconds(() => test.run(jobs['hourly-rollup']));
  const again = await seconds(() => test.run(jobs['hourly-rollup']));
  const charge = await seconds(() => test.run(jobs['daily-charge'], at));
  const compare = await seconds(() => test.run(jobs.reconciliation, at));
  await test.close();
  return [
    figure(`rollup of an hour of ${EVENTS} events`, 's', [first]),
    figure('… again, with nothing new', 's', [again]),
    figure(`charge of its day, ${PROJECTS} projects`, 's', [charge]),
    figure('comparison of its stations', 's', [compare]),
  ];
}

/** One row per delivery: each is the only one of its project and hour in its batch. */
async function fill(db: Database, ids: readonly string[]): Promise<void> {
  const batches = Math.ceil(EVENTS / PROJECTS);
  await db.query(
    `insert into usage_batches (spool_id, sequence, hours)
     select 'bench', n, array[$2::timestamptz] from generate_series(1, $1::bigint) n`,
    [batches, HOUR],
  );
  await db.transaction(async (tx) => {
    // Disables the foreign keys: the rows are consistent, and five million look-ups would take
    // long.
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `insert into usage_batch_rows (batch_id, project_id, window_start, requests, bytes, transforms, credits)
       select batch_id, project_id, $2, 1, 50000, 1, 1 from usage_batches, unnest($1::text[]) project_id`,
      [ids, HOUR],
    );
  });
  await db.query('analyze usage_batches, usage_batch_rows');
}
