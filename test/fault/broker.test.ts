/**
 * During a run of uploads, all messages on the broker are lost, and the broker itself is killed. No upload is lost or
 * processed twice. This worker does not poll, so only the next sweep sends a lost doorbell again. The sweep also
 * restores a queue that a killed broker left without a leader.
 */
import { connect } from 'amqplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completeUpload } from '../../runtime/actions/complete-upload.ts';
import { runJob } from '../../runtime/jobs/run-job.ts';
import { jobs } from '../../runtime/jobs/table.ts';
import { noCdn } from '../../runtime/platform/cdn/cdn.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createLog } from '../../runtime/platform/log.ts';
import type { Queue } from '../../runtime/platform/queue/queue.ts';
import { createRabbitQueue } from '../../runtime/platform/queue/rabbitmq.ts';
import { useDatabase } from '../support/database.ts';
import { over, photograph } from '../support/pictures.ts';
import { type RabbitServer, startRabbitServer } from '../support/rabbitmq-server.ts';
import { makeProject, makeUpload } from '../support/rows.ts';
import { brokenObjects, brokenRows } from './support/promises.ts';
import { endWell, type Spawned, startProgram, untilReady } from './support/spawned.ts';
import { makeStorage, type TestStorage } from './support/storages.ts';
import { sweepDaysLater } from './support/sweeps.ts';
import type { TakingWords } from './support/taking-worker.ts';

const A_BATCH = 12;
const NEVER_MS = 3_600_000;
const DOORBELLS = 'tintype.ingest.doorbells';
const soon = { timeout: 60_000, interval: 50 };

const { db, url } = useDatabase({ maxConnections: 20 });
const log = createLog({ level: 'silent', name: 'test' });
let rabbit: RabbitServer;
let queue: Queue;
let storage: TestStorage;
let worker: Spawned;
let project: Awaited<ReturnType<typeof makeProject>>;
let bytes: Buffer;

beforeAll(async () => {
  rabbit = await startRabbitServer();
  storage = await makeStorage('folder');
  queue = await createRabbitQueue({ url: rabbit.url, log });
  const words = { url: url(), storage: storage.words, amqpUrl: rabbit.url };
  worker = startProgram('taking-worker', {
    ...words,
    poll_every_ms: NEVER_MS,
  } satisfies TakingWords);
  await untilReady(worker);
  bytes = await over(photograph(160, 120)).jpeg().toBuffer();
  project = await makeProject(db, {
    callback_url: 'https://shop.example/hook',
    callback_secret_sealed: Buffer.alloc(32, 1),
  });
}, 300_000);
afterAll(async () => {
  await queue?.close();
  if (worker !== undefined) await endWell(worker);
  await storage?.remove();
  await rabbit?.stop();
});

/** Completes a batch of concurrent uploads whose bytes are stored. */
async function uploadBatch(): Promise<void> {
  const deps = { db, buckets: storage.buckets, queue, log };
  const one = async () => {
    const upload = await makeUpload(db, project, {
      content_type: 'image/jpeg',
      size_bytes: bytes.length,
    });
    await storage.buckets.ingest.write(upload.ingest_key, bytes, { content_type: 'image/jpeg' });
    expect((await completeUpload(deps, upload)).status).toBe('uploaded');
  };
  await Promise.all(Array.from({ length: A_BATCH }, one));
}

const count = async (...statuses: string[]) =>
  (await db.query('select 1 from uploads where status = any($1)', [statuses])).length;

/** Deletes doorbells before the worker receives one. Returns how many were lost. */
async function loseDoorbells(how: 'purgeQueue' | 'deleteQueue'): Promise<number> {
  // A worker that is frozen within a transaction would keep the project's row locked.
  await untilQuiet();
  worker.child.kill('SIGSTOP');
  try {
    await uploadBatch();
    const connection = await connect(rabbit.url);
    const channel = await connection.createChannel();
    const { messageCount } = await channel[how](DOORBELLS);
    await connection.close();
    return messageCount;
  } finally {
    worker.child.kill('SIGCONT');
  }
}

/** Waits until the worker consumes the queue and has handled every doorbell. */
async function untilQuiet(): Promise<void> {
  const look = async () => {
    const depths = await queue.depths().catch(() => []);
    const bells = depths.find((depth) => depth.queue === DOORBELLS);
    return [bells?.listeners, bells?.waiting, await count('processing')];
  };
  await expect.poll(look, soon).toEqual([1, 0, 0]);
}

const sweep = () => {
  const deps = { db, buckets: storage.buckets, queue, cdn: noCdn, clock: systemClock, log };
  return runJob(deps, { name: 'upload-sweep', job: jobs['upload-sweep'], at: new Date() });
};

describe('uploads behind a broker', { shuffle: false, timeout: 300_000 }, () => {
  let lost = 0;

  it('are processed when their queue messages arrive', async () => {
    await uploadBatch();
    await expect.poll(() => count('ready'), soon).toBe(A_BATCH);
  });

  it('continue after the queue is purged or deleted', async () => {
    for (const how of ['purgeQueue', 'deleteQueue'] as const) {
      const thrownAway = await loseDoorbells(how);
      expect(thrownAway).toBeGreaterThan(0);
      lost += thrownAway;
      const before = await count('ready');
      // A single doorbell without an upload id: for each one, the worker completes an upload whose
      // own doorbell was lost.
      const ring = () => queue.publish('ingest', {}).then(String, String);
      await expect.poll(ring, soon).toBe('undefined');
      await expect.poll(() => count('ready'), soon).toBeGreaterThan(before);
    }
  });

  it('wait in the database while the broker crashes and restarts', async () => {
    await uploadBatch();
    await rabbit.crash();
    await uploadBatch();
    await rabbit.start();
    await expect.poll(() => queue.depths().then(() => 'heard', String), soon).toBe('heard');
    expect(await count('uploaded')).toBeGreaterThan(0);
  });

  it('all become ready exactly once after a single run of the sweep that runs every minute', async () => {
    expect(jobs['upload-sweep'].schedule).toBe('* * * * *');
    expect(await sweep()).toMatchObject({ outcome: 'done', counts: { completed: 0, errors: 0 } });
    await expect.poll(() => count('uploaded', 'processing'), soon).toBe(0);
    const ends = await db.query<{ status: string; attempt: number }>(
      'select status, attempt from uploads',
    );
    expect(ends).toHaveLength(5 * A_BATCH);
    expect(new Set(ends.map(({ status, attempt }) => `${status} ${attempt}`))).toEqual(
      new Set(['ready 1']),
    );
    expect(lost).toBeGreaterThan(A_BATCH);
  });

  it('leave no rows or objects behind', async () => {
    await untilQuiet();
    await sweepDaysLater(db, storage);
    expect(await brokenRows(db)).toEqual([]);
    expect(await brokenObjects(db, storage.look)).toEqual([]);
  });
});
