// Spec: Staff (reconciliation); Metering.
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type ReconciledDay, reconcileProjects } from '../../../runtime/actions/reconcile-usage.ts';
import { insertPricing } from '../../../runtime/db/project-pricing.ts';
import { insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import { runJob } from '../../../runtime/jobs/run-job.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const NOW = new Date('2026-11-20T12:00:00Z');
const CHARGE = new Date('2026-11-20T00:20:00Z');
let jobs: TestJobs;
let project_id = '';
let organization_id = '';
let sequence = 0;
const NO_LOSS = { missing_batches: 0, lost_deliveries: 0 };

beforeAll(async () => {
  jobs = await makeJobs(db);
  jobs.clock.set(NOW);
});
afterAll(() => jobs.close());
beforeEach(async () => {
  await db.query('truncate organizations, usage_batches cascade');
  ({ project_id, organization_id } = await makeProject(db));
});

async function deliver(hour: string, credits: number) {
  sequence += 1;
  const window_start = new Date(`2026-11-${hour}:00:00Z`);
  const sums = { requests: 2, bytes: 5, transforms: 1, credits };
  const entries = [{ project_id, window_start, ...sums }];
  await insertUsageBatch(db, { spool_id: 'spool', sequence, entries });
}

const rollUp = () => jobs.run(table['hourly-rollup']);
const charge = () => jobs.run(table['daily-charge'], CHARGE);
const days = async (now = NOW) => {
  const found: ReconciledDay[] = [];
  for await (const page of reconcileProjects(db, { project_id, now })) found.push(...page);
  return found;
};
const differences = async (now = NOW) =>
  (await days(now)).flatMap(({ day, differences: found }) =>
    found.map(({ cause, credits }) => `${day} ${cause} ${credits}`),
  );
const run = () => jobs.run(table.reconciliation, NOW);

it('a day that was delivered, summed and charged has no differences', async () => {
  await insertPricing(db, {
    project_id,
    effective_from: new Date('2026-11-19T00:00:00Z'),
    pricing_multiplier: '1.5',
  });
  await db.query(
    `insert into organization_exemptions values ($1, '2026-11-19T05:30Z', '2026-11-19T05:40Z')`,
    [organization_id],
  );
  await deliver('19T04', 7);
  await deliver('19T05', 100);
  await rollUp();
  await charge();
  expect(await days()).toEqual([
    {
      project_id,
      day: '2026-11-19',
      requests: 4,
      batched_credits: 107,
      rolled_up_credits: 107,
      exempt_credits: 100,
      owed_credits: 11,
      charged_credits: 11,
      differences: [],
    },
  ]);
  expect(await run()).toEqual({ days: 1, differing: 0, ...NO_LOSS });
});

it('each difference is reported with its cause', async () => {
  await deliver('19T04', 7);
  expect(await differences()).toEqual(['2026-11-19 not_rolled_up 7']);
  await rollUp();
  expect(await differences()).toEqual(['2026-11-19 not_charged_yet 7']);
  await charge();
  expect(await differences()).toEqual([]);
  await deliver('15T04', 9);
  await rollUp();
  await charge();
  expect(await differences()).toEqual(['2026-11-15 too_late 9']);
  await db.query(`update usage_hours set credits = 99 where credits = 7`);
  expect(await differences()).toEqual([
    '2026-11-15 too_late 9',
    '2026-11-19 batches_gone -92',
    '2026-11-19 not_charged_yet 92',
  ]);
  expect(await run()).toEqual({ days: 2, differing: 2, ...NO_LOSS });
});

it('a day becomes too late only when the next charge no longer covers it', async () => {
  await deliver('16T04', 3);
  await deliver('17T04', 9);
  await rollUp();
  const now = new Date(CHARGE.getTime() - 60_000);
  expect(await differences(now)).toEqual(['2026-11-16 too_late 3', '2026-11-17 not_charged_yet 9']);
  await charge();
  expect(await differences(now)).toEqual(['2026-11-16 too_late 3']);
});

it('usage for the oldest day is too late once the last charge of that day has run', async () => {
  await deliver('17T04', 9);
  await rollUp();
  await charge();
  await deliver('17T05', 3);
  await rollUp();
  expect(await differences()).toEqual(['2026-11-17 too_late 3']);
});

it('a difference of the current day is listed, but not counted as differing', async () => {
  await deliver('20T09', 5);
  await rollUp();
  expect(await differences()).toEqual(['2026-11-20 not_charged_yet 5']);
  expect(await run()).toEqual({ days: 1, differing: 0, ...NO_LOSS });
});

it('missing batches of a spool and lost deliveries are counted and logged', async () => {
  await deliver('19T04', 2);
  sequence += 3;
  await deliver('19T04', 2);
  await db.query(
    `update usage_batches set received_at = '2026-11-19T06:00:00Z', lost_deliveries = 2`,
  );
  await rollUp();
  await charge();
  const losses = { missing_batches: 3, lost_deliveries: 4 };
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const log = createLog({ level: 'warn', name: 'test', destination });
  const options = { name: 'reconciliation', job: table.reconciliation, at: NOW };
  const counts = { days: 1, differing: 0, ...losses };
  expect(await runJob({ ...jobs.deps, log }, options)).toEqual({ outcome: 'done', counts });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ day: '2026-11-19', spool: 'spool', counts: losses }),
  ]);
});

it('at most fifty differing days are logged, across all pages of projects', async () => {
  const entries = [];
  for (let made = 0; made < 400; made += 1) {
    const project = await makeProject(db);
    const window_start = new Date('2026-11-18T05:00:00Z');
    const sums = { requests: 1, bytes: 1, transforms: 1, credits: 1 };
    entries.push({ project_id: project.project_id, window_start, ...sums });
  }
  await insertUsageBatch(db, { spool_id: 'lost', sequence: 1, entries });
  const warn = vi.spyOn(jobs.deps.log, 'warn');
  expect(await run()).toMatchObject({ differing: entries.length });
  expect(warn).toHaveBeenCalledTimes(50);
});

it('without usage there is nothing to report', async () => {
  expect(await days()).toEqual([]);
  expect(await run()).toEqual({ days: 0, differing: 0, ...NO_LOSS });
});
