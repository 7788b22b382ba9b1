import { beforeEach, describe, expect, it } from 'vitest';
import { claimDoomedObjects } from '../../../runtime/db/doomed-objects.ts';
import {
  countFailedJobRuns,
  deleteOldJobRuns,
  insertJobRun,
  updateJobRunFinished,
  updateJobRunLease,
  updateRunsAhead,
} from '../../../runtime/db/job-runs.ts';
import { updateProject } from '../../../runtime/db/projects.ts';
import {
  claimPurges,
  deleteOldPurges,
  insertPurges,
  updatePurgesFailed,
  updatePurgesSent,
} from '../../../runtime/db/purges.ts';
import { deleteOldRateWindows, takeFromRateWindow } from '../../../runtime/db/rate-windows.ts';
import {
  insertWebhookDeliveries,
  updateWebhookUrl,
} from '../../../runtime/db/webhook-deliveries.ts';
import { useDatabase } from '../../support/database.ts';
import { listIndexesRead, noting } from '../../support/explaining.ts';
import { makeProject, must } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 20 });

// Claims take due rows of all projects, so earlier tests must leave none.
beforeEach(async () => {
  await db.query('truncate purges, doomed_objects');
});

/** Times of job runs have millisecond precision: waits for the next one. */
const aMoment = () => db.query('select pg_sleep(0.002)');

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('a job', () => {
  const start = (job: string, lease_seconds = 60) =>
    insertJobRun(db, { job, scheduled_for: new Date(), lease_seconds });
  const done = (job: string) =>
    db.query(`select run_id from job_runs where job = $1 and outcome = 'done'`, [job]);

  it('has one run at a time, and may run again when that is done', async () => {
    const runs = await Promise.all(times(10).map(() => start('sweep')));
    const run = must(runs.find((each) => each !== undefined));
    expect(runs.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await done('sweep')).toEqual([]);
    await updateJobRunFinished(db, { run_id: run.run_id, outcome: 'done', error: null });
    expect(await done('sweep')).toEqual([{ run_id: run.run_id }]);
    expect(await start('sweep')).toBeDefined();
    expect(await deleteOldJobRuns(db, 3600)).toBe(0);
  });

  it('is not held up by runs dated in the future by a clock that was set back since', async () => {
    const [ahead, before] = [must(await start('clock')), must(await start('before'))];
    await updateJobRunFinished(db, { run_id: ahead.run_id, outcome: 'done', error: null });
    const open = must(await start('clock'));
    await db.query(
      `update job_runs set started_at = started_at + ahead, scheduled_for = scheduled_for + ahead,
         finished_at = finished_at + ahead, lease_until = lease_until + ahead
       from (select interval '9 days') told (ahead) where job = 'clock'`,
    );
    for (const job of ['clock', 'before']) await updateRunsAhead(db, job);
    const [seen] = await db.query(
      `select max(started_at) <= now() and max(scheduled_for) <= now() and max(finished_at) <= now() as past,
         max(lease_until) <= now() + interval '1 minute' as soon from job_runs where job = 'clock'`,
    );
    expect(seen).toEqual({ past: true, soon: true });
    const { run_id, lease_until } = before;
    const rows = 'select lease_until from job_runs where run_id = $1 and finished_at is null';
    expect(await db.query(rows, [run_id])).toEqual([{ lease_until }]);
    expect(await db.query(rows, [open.run_id])).toHaveLength(1);
  });

  it('loses its run if its lease expires, and can no longer renew or finish it', async () => {
    const lost = must(await start('fold', 0));
    await aMoment();
    const next = must(await start('fold'));
    expect(await updateJobRunLease(db, { run_id: lost.run_id, lease_seconds: 60 })).toBe(false);
    expect(await updateJobRunLease(db, { run_id: next.run_id, lease_seconds: 60 })).toBe(true);
    await updateJobRunFinished(db, { run_id: lost.run_id, outcome: 'done', error: null });
    expect(await done('fold')).toEqual([]);
  });

  it('counts the runs that failed or were killed since the last success', async () => {
    const job = `count-${Date.now()}`;
    const count = async () => (await countFailedJobRuns(db, [job, 'never-ran']))[0]?.failed;
    const end = async (outcome: 'done' | 'failed') =>
      updateJobRunFinished(db, {
        ...{ run_id: must(await start(job)).run_id, outcome },
        error: null,
      });
    await end('failed');
    expect(await count()).toBe(1);
    await end('done');
    expect(await count()).toBe(0);
    await aMoment();
    await end('failed');
    await end('failed');
    must(await start(job, 0));
    await aMoment();
    expect(await count()).toBe(3);
    must(await start(job));
    expect(await countFailedJobRuns(db, [job, 'never-ran'])).toEqual([
      { job, failed: 3 },
      { job: 'never-ran', failed: 0 },
    ]);
  });
});

describe('a rate window', () => {
  it('allows exactly its limit across concurrent callers', async () => {
    const take = () =>
      takeFromRateWindow(db, { scope: 'mint', subject: 'p', limit: 60, window_seconds: 86_400 });
    const answers = await Promise.all(times(80).map(take));
    expect(answers.filter((answer) => answer.is_allowed)).toHaveLength(60);
    for (const { retry_after_seconds } of answers) {
      expect(retry_after_seconds).toBeGreaterThanOrEqual(1);
      expect(retry_after_seconds).toBeLessThanOrEqual(86_400);
    }
    const nothing = { scope: 'mint', subject: 'q', limit: 0, window_seconds: 60 };
    expect((await takeFromRateWindow(db, nothing)).is_allowed).toBe(false);
    expect(await deleteOldRateWindows(db, 2 * 86_400)).toBe(0);
    expect(await deleteOldRateWindows(db, -86_400)).toBe(1);
  });
});

describe('a purge', () => {
  it('is claimed by one worker at a time until it is sent, and once more for its repeat', async () => {
    const { project_id, project_slug } = await makeProject(db);
    await insertPurges(db, {
      project_id,
      files: [{ file_id: 'file_a', file_slug: 'a.png' }],
      reason: 'delete',
      repeat_after_seconds: 45,
    });
    const claim = () => claimPurges(db, { limit: 10, lease_seconds: 60 });
    const [purge, ...more] = (await Promise.all([claim(), claim()])).flat();
    expect(more).toEqual([]);
    const named = { project_slug, file_slug: 'a.png', file_id: 'file_a' };
    expect(purge).toMatchObject({ ...named, attempt: 1 });
    const { purge_id } = must(purge);
    await updatePurgesFailed(db, [{ purge_id, error: '500', delay_seconds: 0 }]);
    expect((await claim()).map((row) => row.attempt)).toEqual([2]);
    await updatePurgesSent(db, [purge_id]);
    expect(await claim()).toEqual([]);
    await db.query(
      `update purges set run_after = now() - interval '1 second' where sent_at is null`,
    );
    expect(await claim()).toHaveLength(1);
    expect(await deleteOldPurges(db, -1)).toBe(1);
  });
});

describe('a claim with a limit', () => {
  it('takes exactly that many rows, however many are due', async () => {
    const { project_id } = await makeProject(db);
    await db.query(
      `insert into purges (project_id, reason, run_after)
       select $1, 'many', now() - interval '1 hour' from generate_series(1, 40)`,
      [project_id],
    );
    await db.query(
      `insert into doomed_objects (bucket, object_key, delete_after)
       select 'content', 'many/' || n, now() - interval '1 hour' from generate_series(1, 40) n`,
    );
    const query = { limit: 10, lease_seconds: 60 };
    const purges = await Promise.all(times(3).map(() => claimPurges(db, query)));
    expect(purges.map((rows) => rows.length)).toEqual([10, 10, 10]);
    const objects = await Promise.all(times(3).map(() => claimDoomedObjects(db, query)));
    expect(objects.map((rows) => rows.length)).toEqual([10, 10, 10]);
  });
});

describe('webhooks', () => {
  const event = (project_id: string, delivery_id: string) => ({
    delivery_id,
    project_id,
    event: 'upload.ready',
    body: '{}',
    created_at: new Date(),
  });

  it('are recorded only while the project has a callback URL, and once per event', async () => {
    const { project_id } = await makeProject(db);
    const insert = (delivery_id: string) =>
      insertWebhookDeliveries(db, [event(project_id, delivery_id)]);
    expect(await insert('e:none')).toBe(0);
    await updateProject(db, {
      project_id,
      changes: {
        callback_url: 'https://a.example/hook',
        callback_secret_sealed: Buffer.from('x'),
      },
    });
    expect(await insert('e:1')).toBe(1);
    expect(await insert('e:1')).toBe(0);
    const read = () =>
      db.query(
        'select url, status, next_attempt_at from webhook_deliveries where delivery_id = $1',
        ['e:1'],
      );
    await updateWebhookUrl(db, { project_id, url: 'https://b.example/hook' });
    expect(await read()).toMatchObject([{ url: 'https://b.example/hook', status: 'pending' }]);
    await updateWebhookUrl(db, { project_id, url: null });
    expect(await read()).toMatchObject([{ status: 'canceled', next_attempt_at: null }]);
  });

  it.each([
    ['follow a new callback URL', 'https://b.example/hook', 'pending'],
    ['are canceled', null, 'canceled'],
  ])('%s in batches, except those that have ended', async (_, url, status) => {
    const { project_id } = await makeProject(db);
    const [waiting, over] = [11_000, 30_000];
    const old = 'https://a.example/hook';
    for (let from = 0; from < waiting + over; from += 10_000)
      await db.query(
        `insert into webhook_deliveries (delivery_id, project_id, event, url, body, status, next_attempt_at, delivered_at)
         select $1 || n, $1, 'webhook.test', $4, '{}', case when n > $3 then 'pending' else 'delivered' end,
           case when n > $3 then now() end, case when n <= $3 then now() end
         from generate_series($5 + 1, least($5 + 10000, $2::int + $3::int)) n`,
        [project_id, waiting, over, old, from],
      );
    await db.query('vacuum analyze webhook_deliveries');
    const { db: noted, statements } = noting(db);
    await noted.transaction((tx) => updateWebhookUrl(tx, { project_id, url }));
    expect(statements).toHaveLength(4);
    const counts = await db.query(
      `select url, status, count(*) from webhook_deliveries where project_id = $1 group by 1, 2 order by 3`,
      [project_id],
    );
    expect(counts).toEqual([
      { url: url ?? old, status, count: waiting },
      { url: old, status: 'delivered', count: over },
    ]);
    for (const statement of statements)
      expect(await listIndexesRead(db, statement)).not.toContain('webhook_deliveries_of_project');
  });
});
