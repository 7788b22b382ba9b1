// Spec: Metering.

import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { DAY_MS } from '../../../runtime/core/durations.ts';
import { createDatabase, type Queryable } from '../../../runtime/db/client.ts';
import { deleteOldUsageBatches, insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import {
  deleteUsagePartitions,
  insertUsagePartitions,
} from '../../../runtime/db/usage-partitions.ts';
import { createTestDatabase, useDatabase } from '../../support/database.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 8 });
const dayAfter = (at: Date, ahead: number) =>
  new Date((Math.floor(at.getTime() / DAY_MS) + ahead) * DAY_MS);
const day = (ahead: number) => dayAfter(now, ahead);
let now: Date;
let project_id = '';
let sequence = 0;

// Starts without usage, and with the partitions of a new database.
beforeEach(async () => {
  now = new Date();
  await db.query('truncate usage_batches, usage_batch_rows');
  await deleteUsagePartitions(db, day(100));
  await insertUsagePartitions(db, 7);
  ({ project_id } = await makeProject(db));
});

const partitions = async (of: Queryable = db) => {
  const rows = await of.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits
     where inhparent = 'usage_batch_rows'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
};
const nameOf = (at: Date) =>
  `usage_batch_rows_${at.toISOString().slice(0, 10).replaceAll('-', '')}`;

async function deliver(...hours: Date[]) {
  sequence += 1;
  const sums = { project_id, requests: 1, bytes: 1, transforms: 0, credits: 1 };
  const entries = hours.map((window_start) => ({ ...sums, window_start }));
  await insertUsageBatch(db, { spool_id: 'spl_partitions', sequence, entries });
}
/** The partition of each row. */
const places = async () => {
  const rows = await db.query<{ place: string }>(
    `select tableoid::regclass::text as place from usage_batch_rows order by window_start`,
  );
  return rows.map(({ place }) => place);
};

it('a new database has a partition for the day of its creation and each of the next seven days', async () => {
  const database = await createTestDatabase();
  const fresh = createDatabase({ url: database.url });
  onTestFinished(async () => {
    await fresh.close();
    await database.drop();
  });
  // Tests copy a template database, which may have been migrated yesterday.
  const [made] = await fresh.query<{ at: Date }>(
    `select min(run_on at time zone current_setting('TimeZone')) as at from schema_migrations`,
  );
  const ahead = [0, 1, 2, 3, 4, 5, 6, 7].map((days) => nameOf(dayAfter(made?.at ?? now, days)));
  expect(await partitions(fresh)).toEqual([...ahead, 'usage_batch_rows_other']);
});

it('days that already have a partition get no other', async () => {
  expect(await insertUsagePartitions(db, 7)).toBe(0);
});

it('usage is stored in the partition of its day, or in the default one if its day has none', async () => {
  await deliver(day(-3), day(0), new Date(day(1).getTime() - 3_600_000), day(1), day(40));
  expect(await places()).toEqual([
    'usage_batch_rows_other',
    nameOf(day(0)),
    nameOf(day(0)),
    nameOf(day(1)),
    'usage_batch_rows_other',
  ]);
});

it('a day that has rows in the default partition gets none, but the days around it do', async () => {
  await deliver(day(10));
  expect(await insertUsagePartitions(db, 11)).toBe(3);
  expect(await partitions()).toContain(nameOf(day(11)));
  expect(await partitions()).not.toContain(nameOf(day(10)));
  expect(await places()).toEqual(['usage_batch_rows_other']);
});

it('concurrent calls create each partition once', async () => {
  const made = await Promise.all([12, 12, 12, 12].map((ahead) => insertUsagePartitions(db, ahead)));
  expect(made.sort()).toEqual([0, 0, 0, 5]);
  expect(await partitions()).toContain(nameOf(day(12)));
});

it('days before the cutoff are dropped as a whole, and older rows in the default partition deleted', async () => {
  await deliver(day(-2), new Date(day(2).getTime() - 3_600_000), day(2), day(3));
  expect(await deleteUsagePartitions(db, new Date(day(2).getTime() + 3_600_000))).toBe(2);
  expect(await partitions()).not.toContain(nameOf(day(1)));
  expect(await places()).toEqual([nameOf(day(2)), nameOf(day(3))]);
  expect(await deleteUsagePartitions(db, day(2))).toBe(0);
});

it('a day that is being read is left to the next run, and no writer waits behind it', async () => {
  const reading = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const reader = db.transaction(async (tx) => {
    await tx.query('select count(*) from usage_batch_rows');
    begun.resolve();
    await reading.promise;
  });
  await begun.promise;
  expect(await deleteUsagePartitions(db, day(4))).toBe(0);
  await deliver(day(5));
  reading.resolve();
  await reader;
  expect(await deleteUsagePartitions(db, day(4))).toBeGreaterThan(0);
});

it('a batch is deleted once all of its hours are old, whether or not its rows are gone', async () => {
  await deliver(day(-50));
  await deliver(day(-50), day(-10));
  await db.query(`update usage_batches set received_at = now() - interval '48 days'`);
  expect(await deleteOldUsageBatches(db, day(-35))).toBe(1);
});
