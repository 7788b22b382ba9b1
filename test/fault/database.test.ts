/**
 * Disconnects, refuses, freezes or mutes the database while an upload is published and while usage is flushed. A commit
 * with unknown outcome is resolved, and nothing is stored twice. A proxy in front of a real PostgreSQL causes the
 * faults.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../runtime/db/client.ts';
import { findFile } from '../../runtime/db/files.ts';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import type { UploadRow } from '../../runtime/db/uploads.ts';
import { startMeter } from '../../runtime/delivery/meter.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import type { Failpoint, FailpointName } from '../../runtime/platform/failpoint.ts';
import { createLog } from '../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../runtime/platform/queue/in-process.ts';
import { startIngest } from '../../runtime/worker/ingest/ingest-loop.ts';
import { ingestUpload } from '../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox, type Sandbox } from '../../runtime/worker/sandbox/sandbox.ts';
import { useDatabase } from '../support/database.ts';
import { makeFolderBuckets } from '../support/folder-buckets.ts';
import { over, photograph } from '../support/pictures.ts';
import { makeProject } from '../support/rows.ts';
import { type FaultProxy, startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { arrive, uploadAsItIs } from '../support/uploads.ts';
import { brokenRows } from './support/promises.ts';

const { db, url } = useDatabase();
const storage = makeFolderBuckets();
const { buckets } = storage;
const log = createLog({ level: 'silent', name: 'test' });
let proxy: FaultProxy;
/** Connects to the same database through the proxy. */
let distant: Database;
let sandbox: Sandbox;
let bytes: Buffer;
let project: ProjectRow;

type Fault = {
  name: string;
  begin(): void;
  /** The possible states of an upload after the attempt. */
  after(moment: FailpointName): string[];
};

/** Network faults that last from a given moment until the end of the attempt. */
const faults: Fault[] = [
  {
    name: 'is cut off once',
    begin: () => void setImmediate(() => proxy.cut()),
    after: () => ['processing', 'ready'],
  },
  {
    name: 'is away',
    begin: () => {
      proxy.set({ kind: 'refuse' });
      proxy.cut();
    },
    after: () => ['processing'],
  },
  {
    name: 'is frozen',
    begin: () => proxy.set({ kind: 'stall' }),
    // After the thaw, a COMMIT that the client has given up may still arrive.
    after: (moment) => ['processing', ...(moment === 'ingest.before_commit' ? ['ready'] : [])],
  },
  {
    name: 'hears and is not heard',
    begin: () => proxy.set({ kind: 'drop_response' }),
    after: (moment) => [moment === 'ingest.before_commit' ? 'ready' : 'processing'],
  },
];

beforeAll(async () => {
  bytes = await over(photograph(1100, 300)).jpeg().toBuffer();
  const { port } = new URL(url());
  proxy = await startFaultProxy({ port: Number(port) });
  distant = createDatabase({
    url: Object.assign(new URL(url()), { port: String(proxy.port) }).href,
    maxConnections: 2,
    queryTimeoutMs: 1500,
    connectTimeoutMs: 1500,
  });
  const lane = { slots: 1, wall_clock_ms: 30_000, memory_bytes: 2e9, jobs_per_child: 100 };
  sandbox = createSandbox({ ...lane, log });
});

afterAll(async () => {
  await distant.close();
  await proxy.close();
  await sandbox.close();
  storage.remove();
});

beforeEach(async () => {
  project = await makeProject(db, {
    callback_url: 'https://shop.example/hook',
    callback_secret_sealed: Buffer.alloc(32, 1),
  });
});

/** How long an attempt waits for the database to confirm its outcome. */
const LEASE_SECONDS = 3;

/**
 * Expires the previous lease and runs one attempt, which may fail before its outcome is recorded.
 */
async function attempt({ upload_id }: UploadRow, failpoint: Failpoint) {
  await db.query(
    `update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1 and status = 'processing'`,
    [upload_id],
  );
  const deps = { db: distant, buckets, sandbox, clock: systemClock, log, ingest_bytes_max: 1e9 };
  const leased = { ...deps, lease_seconds: LEASE_SECONDS, failpoint };
  await ingestUpload(leased, upload_id).catch(() => undefined);
  proxy.set({ kind: 'none' });
}

describe('a database that recovers before another worker takes over the attempt', () => {
  const back = (afterMs: number) => setTimeout(() => proxy.set({ kind: 'none' }), afterMs);
  const outages: Record<string, Failpoint> = {
    'was away for a moment': (name) => {
      if (name !== 'ingest.before_publish') return;
      proxy.set({ kind: 'refuse' });
      proxy.cut();
      back(700);
    },
    'was silent for a whole lease': async (name) => {
      if (name !== 'ingest.decoded') return;
      proxy.set({ kind: 'stall' });
      back(LEASE_SECONDS * 2000);
      // Waits until a heartbeat has failed after the end of the lease.
      await sleep(LEASE_SECONDS * 1800);
    },
  };
  it.each(Object.entries(outages))('and %s: each attempt is excused', async (_, failpoint) => {
    const upload = await arrive({ db, buckets }, project, { bytes, file_slug: 'picture' });
    for (let number = 1; number <= 3; number += 1) {
      await attempt(upload, failpoint);
      const row = await uploadAsItIs(db, upload);
      expect(row).toMatchObject({ status: 'processing', attempt: number, excused_count: number });
    }
    do await attempt(upload, () => undefined);
    while ((await uploadAsItIs(db, upload)).status !== 'ready');
  });
});

it('a worker that stops does not wait for its database to recover', async () => {
  const upload = await arrive({ db, buckets }, project, { bytes, file_slug: 'picture' });
  const { promise: away, resolve } = Promise.withResolvers<void>();
  const ingest = await startIngest({
    ...{ db: distant, buckets, sandbox, clock: systemClock, log, ingest_bytes_max: 1e9 },
    ...{ lease_seconds: 30, queue: createInProcessQueue(), slots: 1, poll_every_ms: 50 },
    failpoint: (name) => {
      if (name !== 'ingest.before_publish') return;
      proxy.set({ kind: 'refuse' });
      proxy.cut();
      resolve();
    },
  });
  await away;
  const toldAt = performance.now();
  await ingest.stop();
  expect(performance.now() - toldAt).toBeLessThan(10_000);
  expect(await uploadAsItIs(db, upload)).toMatchObject({ status: 'processing', attempt: 1 });
  proxy.set({ kind: 'none' });
  // Finishes the upload, so that it does not affect other tests.
  do await attempt(upload, () => undefined);
  while ((await uploadAsItIs(db, upload)).status !== 'ready');
});

const moments = ['ingest.decoded', 'ingest.before_publish', 'ingest.before_commit'] as const;

describe.each(faults)('a database that $name', ({ begin, after }) => {
  it.each(moments)('at %s: the upload is still published exactly once', async (moment) => {
    const upload = await arrive({ db, buckets }, project, { bytes, file_slug: 'picture' });
    let isReached = false;
    // A busy machine may time out even without a fault. The attempt is then repeated, as by a
    // worker.
    while (!isReached) {
      await attempt(upload, (name) => {
        if (name !== moment) return;
        isReached = true;
        begin();
      });
    }
    const { status } = await uploadAsItIs(db, upload);
    expect(after(moment)).toContain(status);
    do await attempt(upload, () => undefined);
    while ((await uploadAsItIs(db, upload)).status === 'processing');
    expect(await uploadAsItIs(db, upload)).toMatchObject({ status: 'ready', revision: 1 });
    const file = await findFile(db, { project_id: project.project_id, file_slug: 'picture' });
    const stored = await buckets.content.read(file?.object_key ?? '');
    const sha256 = createHash('sha256').update(stored ?? Buffer.alloc(0));
    expect(sha256.digest('hex')).toBe(file?.sha256);
    expect(await brokenRows(db)).toEqual([]);
  });

  it('while usage is flushed: every delivery is counted exactly once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tintype-spool-'));
    let isFaulty = true;
    const meter = startMeter(folder, {
      db: distant,
      clock: systemClock,
      log,
      metrics: { usageUnspooled: () => undefined, usageLost: () => undefined },
      failpoint: (name) => {
        if (isFaulty && name === 'usage.before_commit') begin();
      },
    });
    const { project_id } = project;
    const record = () =>
      meter.record({
        at: Date.now(),
        project_id,
        bytes: 10,
        kind: 'derived',
        is_watermarked: false,
      });
    for (let count = 0; count < 5; count += 1) record();
    await meter.flush();
    for (let count = 0; count < 5; count += 1) record();
    isFaulty = false;
    proxy.set({ kind: 'none' });
    await meter.stop();
    const counted = async () => {
      await meter.flush();
      return db.query(
        `select sum(requests)::int as requests, sum(bytes)::int as bytes, sum(credits)::int as credits
         from usage_batch_rows where project_id = $1`,
        [project_id],
      );
    };
    await expect.poll(counted).toEqual([{ requests: 10, bytes: 100, credits: 10 }]);
    rmSync(folder, { recursive: true });
  });
});
