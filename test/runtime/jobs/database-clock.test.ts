// Which time jobs use if the clocks of their process and of the database differ by days.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createDatabaseClock } from '../../../runtime/jobs/database-clock.ts';
import type { JobContext } from '../../../runtime/jobs/job.ts';
import { startScheduler } from '../../../runtime/jobs/scheduler.ts';
import { systemClock as clock, fixedClock } from '../../../runtime/platform/clock.ts';
import { useDatabase } from '../../support/database.ts';
import { type DatabaseClock, takeDatabaseClock } from '../../support/database-clock.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';

const { db, url } = useDatabase();
let hand: DatabaseClock;
let jobs: TestJobs;

beforeAll(async () => {
  hand = await takeDatabaseClock(url(), db);
  jobs = await makeJobs(db);
});
afterAll(() => jobs.close());
beforeEach(() => db.query('delete from job_runs'));

it.each(['2126-03-29T00:00:00Z', '2020-02-29T12:00:00Z'])(
  'a job runs when it is due by the database clock, and sees that time: %s',
  async (at) => {
    await hand.set(at);
    const { promise, resolve } = Promise.withResolvers<JobContext>();
    const run = async (context: JobContext) => {
      resolve(context);
      return {};
    };
    const each = { schedule: '* * * * * *', clock: 'database', missed: 'newest' } as const;
    const job = { ...each, missed_means: '', deadline_seconds: 60, run };
    const scheduler = startScheduler({ ...jobs.deps, clock }, { jobs: { job }, tick_ms: 50 });
    const context = await promise;
    await scheduler.stop();
    for (const time of [context.at, context.clock.now()]) {
      expect(Math.abs(time.getTime() - new Date(at).getTime())).toBeLessThan(30_000);
    }
  },
);

it('the database clock continues while the database is away, but only once it has been read', async () => {
  const at = new Date('2126-03-29T00:00:00Z');
  await hand.set(at.toISOString());
  let isAway = true;
  const query = async (text: string, values?: readonly unknown[]) => {
    if (isAway) throw new Error('away');
    return db.query(text, values) as never;
  };
  const known = createDatabaseClock({ query }, clock);
  await expect(known.compare()).rejects.toThrow('away');
  isAway = false;
  await known.compare();
  isAway = true;
  await known.compare();
  expect(Math.abs(known.now().getTime() - at.getTime())).toBeLessThan(30_000);
});

it('a clock that is passed in explicitly is used unchanged', async () => {
  const at = new Date('2000-01-01T00:00:00Z');
  const handed = createDatabaseClock(db, fixedClock(at));
  await handed.compare();
  expect(handed.now()).toEqual(at);
});
