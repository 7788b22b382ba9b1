// Every job of the table is safe to run twice concurrently: even without the lease that keeps runs apart, nothing is
// done twice. Spec: Metering; Upload session (status); Webhook delivery attempt.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../runtime/core/durations.ts';
import { jobTexts } from '../../../runtime/core/job-texts.ts';
import { insertSigningKey, rotateSigningKey } from '../../../runtime/db/signing-keys.ts';
import { insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import type { Job } from '../../../runtime/jobs/job.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { type Cdn, noCdn } from '../../../runtime/platform/cdn/cdn.ts';
import { mastersOf } from '../../../runtime/platform/storage/content-keys.ts';
import { type CallbackServer, startCallbackServer } from '../../support/callback-server.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { id, makeUpload } from '../../support/rows.ts';
import { insertEvent, makeCallbackProject, testSender } from '../../support/webhooks.ts';

const { db } = useDatabase({ maxConnections: 20 });
const NAMES = Object.keys(table) as (keyof typeof table)[];
let endpoint: CallbackServer;
let jobs: TestJobs;
let purged: number;
let runs = 0;

const cdn: Cdn = {
  ...noCdn,
  batch_max: 2,
  purge: async (purges) => {
    purged += purges.length;
    return new Map();
  },
};

beforeAll(async () => {
  endpoint = await startCallbackServer();
});
afterAll(() => endpoint.close());

/** Creates work for every job. */
async function makeWorld(): Promise<void> {
  await db.query('truncate organizations, usage_batches, job_runs, doomed_objects cascade');
  endpoint.seen.length = 0;
  purged = 0;
  jobs = await makeJobs(db, cdn);
  jobs.clock.set(new Date(Date.now() + 2 * HOUR_MS));
  const project = await makeCallbackProject(db, { url: endpoint.url, secret: 'whsec_1' });
  const { project_id } = project;
  for (let count = 0; count < 5; count++) await insertEvent(db, project_id);
  await makeUsage(project_id);
  await makeUploads(project);
  const key = () => ({ kid: id('kid'), project_id, secret_sealed: Buffer.from('sealed') });
  await db.transaction((tx) => insertSigningKey(tx, key()));
  await db.transaction((tx) => rotateSigningKey(tx, { ...key(), overlap_seconds: -90_000 }));
  await db.query(
    `insert into purges (project_id, reason) select $1, 'x' from generate_series(1, 5)`,
    [project_id],
  );
  await db.query(`insert into job_runs (job, scheduled_for, lease_until, started_at, finished_at, outcome)
    select 'old', now(), now(), now() - interval '1 year' * turn, now() - interval '1 year', 'done'
    from generate_series(1, 5) turn`);
}

async function makeUsage(project_id: string): Promise<void> {
  for (let sequence = 1; sequence <= 6; sequence++) {
    const at = Math.floor(Date.now() / HOUR_MS - sequence) * HOUR_MS;
    const sums = { requests: 1, bytes: 1, transforms: 1, credits: sequence };
    const entries = [{ project_id, window_start: new Date(at), ...sums }];
    await insertUsageBatch(db, { spool_id: 'spl_twice', sequence, entries });
  }
}

async function makeUploads(project: { project_id: string }): Promise<void> {
  const bytes = Buffer.from('bytes enough');
  const { content, ingest } = jobs.deps.buckets;
  for (let count = 0; count < 6; count++) {
    const upload = await makeUpload(db, project, { size_bytes: bytes.length });
    if (count % 2 === 0)
      await ingest.write(upload.ingest_key, bytes, { content_type: 'image/png' });
  }
  await db.query(
    `update uploads set created_at = now() - interval '20 minutes', expires_at = now() - interval '1 second'`,
  );
  const { upload_id } = await makeUpload(db, project);
  await db.query(
    `with ended as (update uploads set status = 'failed', error_code = 'decode_failed' where upload_id = $1)
    update projects set reserved_bytes = reserved_bytes - 1000 where project_id = $2`,
    [upload_id, project.project_id],
  );
  const folder = mastersOf({ project_id: project.project_id, upload_id });
  for (const name of ['a', 'b', 'c']) {
    await content.write(`${folder}${name}`, bytes, { content_type: 'image/png' });
  }
}

/** Runs the jobs one after another, each with this many concurrent copies. */
async function runAll(copies: number): Promise<Record<string, object>> {
  const at = new Date(
    `${new Date(Date.now() + 24 * HOUR_MS).toISOString().slice(0, 10)}T00:20:00Z`,
  );
  const { signal } = new AbortController();
  const done: Record<string, object> = {};
  for (const name of NAMES) {
    const job: Job = table[name];
    const both = Array.from({ length: copies }, () => {
      runs += 1;
      const webhooks = testSender(db);
      return job.run({ ...jobs.deps, webhooks, at, run: `r${runs}`, signal, is_queue_alone: true });
    });
    const counts = await Promise.all(both);
    done[name] = Object.assign({}, ...counts);
  }
  return done;
}

const FACTS = {
  hours: 'select window_start, credits::text from usage_hours order by 1, 2',
  charges: 'select day, sum(delta)::text as credits from ledger group by 1 order by 1',
  balance:
    'select credit_balance::text, quota_exceeded_at is not null as is_over from organizations order by 1',
  events:
    'select event, status, attempt, count(*)::integer from webhook_deliveries group by 1, 2, 3 order by 1, 2, 3',
  attempts: 'select count(*)::integer from webhook_attempts',
  uploads: 'select status, error_code, count(*)::integer from uploads group by 1, 2 order by 1, 2',
  reserved: 'select sum(reserved_bytes)::text as bytes from projects',
  doomed: 'select count(*)::integer from doomed_objects',
  purges: 'select sent_at is not null as is_sent, count(*)::integer from purges group by 1',
  keys: `select status, secret_sealed = '' as is_erased, count(*)::integer from signing_keys group by 1, 2 order by 1, 2`,
  runs: 'select count(*)::integer from job_runs',
  samples: 'select count(*)::integer from status_samples',
} as const;

/** The resulting state, without ids and times, which differ between worlds. */
async function look(): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  for (const [fact, text] of Object.entries(FACTS)) seen[fact] = await db.query(text);
  const { content, ingest } = jobs.deps.buckets;
  seen['objects'] = await Promise.all(
    [content, ingest].map(async (bucket) => (await bucket.list({ prefix: '', limit: 100 })).length),
  );
  seen['sent'] = endpoint.seen.map(({ headers }) => headers['x-service-event']).sort();
  seen['purged'] = purged;
  seen['rung'] = new Set(jobs.rung).size;
  return seen;
}

async function live(copies: number) {
  await makeWorld();
  try {
    const done = await runAll(copies);
    return { done, world: await look() };
  } finally {
    await jobs.close();
  }
}

describe('every job', () => {
  let once: Awaited<ReturnType<typeof live>>;
  beforeAll(async () => {
    once = await live(1);
  });

  it.each(NAMES)('counts what the documents explain, and nothing else: %s', (name) => {
    expect(Object.keys(once.done[name] ?? {}).sort()).toEqual(
      Object.keys(jobTexts[name].counts).sort(),
    );
  });

  it('has something to do in this test', () => {
    const busy = Object.entries(once.done).filter(([, counts]) =>
      Object.values(counts).some((count) => count > 0),
    );
    // Status sampling is idle, because it has no addresses to test.
    const idle = NAMES.filter((name) => !busy.some(([one]) => one === name));
    expect(idle.filter((name) => name !== 'status-sampling')).toEqual([]);
  });

  it.each([2, 4])('run %i times concurrently has the same effect as run once', async (copies) => {
    expect((await live(copies)).world).toEqual(once.world);
  });
});
