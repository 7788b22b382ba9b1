import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { claimPurges, insertPurges } from '../../../runtime/db/purges.ts';
import { startPurgeLoop } from '../../../runtime/jobs/purge-loop.ts';
import { purgeQueue } from '../../../runtime/jobs/purge-queue.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { type Cdn, type CdnPurge, CdnRefusal } from '../../../runtime/platform/cdn/cdn.ts';
import { createMetrics } from '../../../runtime/platform/metrics.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const queue = table['purge-queue'];
let project: ProjectRow;
let jobs: TestJobs;
let taken: CdnPurge[];
/** Decides which purges the CDN refuses, and why. */
let refuses: (purge: CdnPurge) => CdnRefusal | undefined;

const cdn: Cdn = {
  batch_max: 20,
  purge: async (purges) => {
    const answers = purges.map((purge) => [purge, refuses(purge)] as const);
    taken.push(...answers.filter(([, refusal]) => !refusal).map(([purge]) => purge));
    return new Map(answers.flatMap(([purge, refusal]) => (refusal ? [[purge, refusal]] : [])));
  },
  check: async () => ({ says: 'fine' }),
};

const refusal = (retry_after_seconds?: number) =>
  new CdnRefusal({ says: 'it answered 500', advice: 'wait', concerns: 'all', retry_after_seconds });

beforeAll(async () => {
  project = await makeProject(db);
  jobs = await makeJobs(db, cdn);
});
afterAll(() => jobs.close());
beforeEach(async () => {
  taken = [];
  refuses = () => undefined;
  await db.query('delete from purges');
});

const purge = (file_slug: string | null, repeat_after_seconds = 45, of = project) =>
  db.transaction((tx) =>
    insertPurges(tx, {
      project_id: of.project_id,
      files: file_slug === null ? null : [{ file_id: `file_of_${file_slug}`, file_slug }],
      reason: 'test',
      repeat_after_seconds,
    }),
  );

const makeDue = (which: 'sent_at is null' | 'attempt > 0') =>
  db.query(`update purges set run_after = now() - interval '1 s' where ${which}`);

type Open = { attempt: number; last_error: string | null; delay: number };
const open = () =>
  db.query<Open>(
    `select attempt, last_error, round(extract(epoch from run_after - now()))::integer as delay
     from purges where sent_at is null and attempt > 0 order by purge_id`,
  );

describe('the purge queue', () => {
  it('sends each purge immediately and once more at its repeat time', async () => {
    await purge('hero.jpg');
    expect(await jobs.run(queue)).toEqual({ sent: 1, failed: 0 });
    const { project_id, project_slug } = project;
    const names = { file_slug: 'hero.jpg', file_id: 'file_of_hero.jpg', custom_domains: [] };
    expect(taken).toMatchObject([{ project_id, project_slug, ...names }]);
    expect(await jobs.run(queue)).toEqual({ sent: 0, failed: 0 });
    await makeDue('sent_at is null');
    expect(await jobs.run(queue)).toEqual({ sent: 1, failed: 0 });
    expect(await db.query('select 1 from purges where sent_at is null')).toEqual([]);
    expect(await jobs.run(queue)).toEqual({ sent: 0, failed: 0 });
  });

  it('marks a purge and its repeat as sent if there is no CDN', async () => {
    const without = await makeJobs(db);
    await purge(null, 0);
    // The second purge is due by the clock, perhaps only a millisecond from now.
    await makeDue('sent_at is null');
    expect(await without.run(queue)).toEqual({ sent: 2, failed: 0 });
    expect(await db.query('select 1 from purges where sent_at is null')).toEqual([]);
    await without.close();
  });

  it('keeps a purge that the CDN refused, with the reason, and retries it at growing intervals', async () => {
    await purge('hero.jpg');
    refuses = () => refusal();
    for (const delay of [5, 10, 20, 40, 80, 160, 300, 300]) {
      await makeDue('attempt > 0');
      expect(await jobs.run(queue)).toEqual({ sent: 0, failed: 1 });
      expect(await jobs.run(queue)).toEqual({ sent: 0, failed: 0 });
      expect(await open()).toMatchObject([{ delay, last_error: 'it answered 500: wait' }]);
    }
    refuses = () => undefined;
    await makeDue('attempt > 0');
    expect(await jobs.run(queue)).toEqual({ sent: 1, failed: 0 });
  });

  it('waits as long as the CDN asks if that is longer', async () => {
    await purge('hero.jpg');
    refuses = () => refusal(600);
    await jobs.run(queue);
    expect(await open()).toMatchObject([{ delay: 600 }]);
  });

  it('keeps only the refused purges of a batch', async () => {
    for (const slug of ['a', 'b', 'c']) await purge(slug);
    refuses = ({ file_slug }) => (file_slug === 'b' ? refusal() : undefined);
    expect(await jobs.run(queue)).toEqual({ sent: 2, failed: 1 });
    expect(taken.map(({ file_slug }) => file_slug)).toEqual(['a', 'c']);
    expect(await open()).toHaveLength(1);
  });

  it('sends the purges claimed by a crashed process once their lease has expired', async () => {
    await purge('hero.jpg');
    expect(await claimPurges(db, { limit: 10, lease_seconds: 120 })).toHaveLength(1);
    expect(await jobs.run(queue)).toEqual({ sent: 0, failed: 0 });
    await db.query(`update purges set run_after = run_after - interval '120 s' where attempt > 0`);
    expect(await jobs.run(queue)).toEqual({ sent: 1, failed: 0 });
  });

  it('gives back what it claimed if its process stops during a call', async () => {
    await purge('hero.jpg');
    const ending = new AbortController();
    const slow: Cdn = {
      ...cdn,
      purge: async (_, signal) => {
        ending.abort(new Error('told to end'));
        signal.throwIfAborted();
        return new Map();
      },
    };
    const context = { ...jobs.deps, cdn: slow, signal: ending.signal };
    await expect(purgeQueue(context)).rejects.toThrow('told to end');
    expect(await jobs.run(queue)).toEqual({ sent: 1, failed: 0 });
    expect(taken.map(({ file_slug }) => file_slug)).toEqual(['hero.jpg']);
  });

  it('sends the first purge of each project before more purges of a busy one', async () => {
    const others = [await makeProject(db), await makeProject(db)];
    for (let n = 0; n < 50; n += 1) await purge(`mass-${n}`);
    for (const other of others) await purge('blocked.jpg', 45, other);
    const page = await claimPurges(db, { limit: 40, lease_seconds: 120 });
    const masses = page.filter(({ project_id }) => project_id === project.project_id);
    expect([page.length, masses.length]).toEqual([40, 38]);
    expect(new Set(masses.map(({ file_slug }) => file_slug))).toEqual(
      new Set(Array.from({ length: 38 }, (_, n) => `mass-${n}`)),
    );
    expect(await jobs.run(queue)).toEqual({ sent: 12, failed: 0 });
  });

  it('fills a batch from few projects, the same number from each, if many have plenty', async () => {
    const projects = [project, await makeProject(db), await makeProject(db), await makeProject(db)];
    for (const each of projects) for (let n = 0; n < 15; n += 1) await purge(`f-${n}`, 45, each);
    const page = await claimPurges(db, { limit: cdn.batch_max, lease_seconds: 120 });
    const counts = projects.map(
      ({ project_id }) => page.filter((row) => row.project_id === project_id).length,
    );
    expect(counts.toSorted((one, other) => one - other)).toEqual([0, 0, 10, 10]);
  });

  it('sends each purge once when run twice concurrently', async () => {
    for (let n = 0; n < 150; n += 1) await purge(`f-${n}`);
    const [one, other] = await Promise.all([jobs.run(queue), jobs.run(queue)]);
    expect((one.sent ?? 0) + (other.sent ?? 0)).toBe(150);
    expect(new Set(taken.map(({ file_slug }) => file_slug)).size).toBe(150);
    expect(taken).toHaveLength(150);
  });
});

describe('the purge loop', () => {
  it('sends what becomes due on its own, counts it, and ends when it is stopped', async () => {
    const metrics = createMetrics();
    const loop = startPurgeLoop({ ...jobs.deps, metrics }, { pause_ms: 5 });
    await purge('hero.jpg');
    await expect.poll(() => taken).toHaveLength(1);
    await makeDue('sent_at is null');
    await expect.poll(() => taken).toHaveLength(2);
    await expect.poll(async () => (await metrics.print()).text).toContain('{result="sent"} 2');
    await loop.stop();
    await purge('later.jpg');
    expect(await jobs.run(queue)).toEqual({ sent: 1, failed: 0 });
  });

  it('continues after a database outage', async () => {
    let isAway = true;
    const awayDb = {
      ...db,
      query: <Row>(text: string, values?: readonly unknown[]) => {
        if (isAway) throw new Error('away');
        return db.query<Row>(text, values);
      },
    };
    const deps = { ...jobs.deps, db: awayDb, metrics: createMetrics() };
    const loop = startPurgeLoop(deps, { pause_ms: 1 });
    await purge('hero.jpg');
    isAway = false;
    await expect.poll(() => taken).toHaveLength(1);
    await loop.stop();
  });
});
