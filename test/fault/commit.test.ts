/**
 * The database fails at one statement or commit of each operation that changes an upload session, and the caller
 * retries. There must be one session, one transition and one reservation. Every database call of each operation is
 * tried.
 */
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MULTIPART_PART_BYTES_MIN } from '../../runtime/core/limits.ts';
import type { Database } from '../../runtime/db/client.ts';
import { createDatabase } from '../../runtime/db/client.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { ingestUpload } from '../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox } from '../../runtime/worker/sandbox/sandbox.ts';
import { createKey, createProject, newSubject } from '../support/api-client.ts';
import { useApi } from '../support/api-server.ts';
import { openFolderBuckets } from '../support/folder-buckets.ts';
import { over, photograph } from '../support/pictures.ts';
import { type FaultProxy, startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { arrive } from '../support/uploads.ts';
import { databaseFaults } from './support/database-faults.ts';
import { type Call, watchCalls } from './support/faulty-database.ts';
import { brokenObjects, brokenRows, readFolderObjects } from './support/promises.ts';
import { sweepDaysLater } from './support/sweeps.ts';
import { type Operation, operations, type Scene } from './support/upload-operations.ts';

/** Just enough for two parts. */
const LARGE_BYTES = MULTIPART_PART_BYTES_MIN + 1;

const api = useApi();
const owner = api.session(newSubject());
let proxy: FaultProxy;
let scene: Scene;

beforeAll(async () => {
  proxy = await startFaultProxy({ port: Number(new URL(api.databaseUrl()).port) });
  const project = await createProject(owner);
  const api_key = await createKey(owner, project.project_slug);
  await api.db.query(
    `update projects set callback_url = 'https://shop.example/hook', callback_secret_sealed = '\\x00'`,
  );
  const { log } = api.deps();
  const lane = { slots: 1, wall_clock_ms: 60_000, memory_bytes: 1e9, jobs_per_child: 1000 };
  const bytes = {
    good: await over(photograph(48, 40)).png().toBuffer(),
    bad: Buffer.from('no picture at all'),
    large: Buffer.alloc(LARGE_BYTES, 1),
  };
  scene = { api, project, api_key, sandbox: createSandbox({ ...lane, log }), bytes };
});
afterAll(async () => {
  await scene.sandbox.close();
  await proxy.close();
});

/** Uses a single connection, so that a fault that is set before a call affects that call. */
async function withDistant(work: (db: Database) => Promise<void>): Promise<void> {
  const url = Object.assign(new URL(api.databaseUrl()), { port: String(proxy.port) }).href;
  const db = createDatabase({
    url,
    maxConnections: 1,
    queryTimeoutMs: 5000,
    connectTimeoutMs: 2000,
  });
  await work(db);
  await db.close();
}

/** Runs an operation without faults and returns its database calls. */
async function callsOf(operation: Operation): Promise<Call[]> {
  const calls: Call[] = [];
  const trial = await operation.prepare(scene);
  await withDistant((db) => trial.act(watchCalls(db, async (call) => void calls.push(call))));
  await trial.again();
  return calls;
}

/** For completing uploads, tries only calls that change rows, because each trial is slow. */
const isTried = ({ name }: Operation, call: Call) =>
  !(name.includes('complete') && /^select/.test(call));

const faults = databaseFaults(api.db, () => proxy);

describe.each(operations)('a retry to $name', (operation) => {
  let calls: Call[];
  beforeAll(async () => {
    calls = await callsOf(operation);
  });

  it.each(faults)(
    'succeeds with correct reservations if the database $name, at any call',
    { timeout: 120_000 },
    async (fault) => {
      const before = fault.count();
      for (const at of calls.filter((call) => isTried(operation, call))) {
        const trial = await operation.prepare(scene);
        await withDistant(async (db) => {
          const faulty = watchCalls(db, async (call, queries) => {
            if (call === at) await fault.begin(queries);
          });
          await trial.act(faulty);
          await fault.end();
        });
        await trial.again().catch((cause: unknown) => {
          throw new Error(`tried again after a fault at ${at}`, { cause });
        });
        expect(await wrongReservations(), `after a fault at ${at}`).toEqual([]);
      }
      expect(fault.count()).toBeGreaterThan(before);
    },
  );
});

it.each(['ready', 'failed'] as const)(
  'an attempt whose commit got no response learns that its upload is %s, and deletes the ingest object',
  async (result) => {
    const { db, buckets, log } = api.deps();
    const { bytes, project, sandbox } = scene;
    const sent = { content_type: 'image/png', bytes: result === 'ready' ? bytes.good : bytes.bad };
    const upload = await arrive({ db, buckets }, project, sent);
    await withDistant(async (distant) => {
      const faulty = watchCalls(distant, async (call) => {
        if (call === 'commit 1') proxy.set({ kind: 'drop_response', times: 1 });
      });
      const deps = { db: faulty, buckets, log, sandbox, clock: systemClock, ingest_bytes_max: 1e9 };
      expect(await ingestUpload(deps, upload.upload_id)).toMatchObject({ result });
    });
    expect(await buckets.ingest.head(upload.ingest_key)).toBeUndefined();
  },
);

it('no rows or objects are left behind by these faults', async () => {
  const { db, buckets, log } = api.deps();
  const deps = { db, buckets, log, sandbox: scene.sandbox, clock: systemClock };
  while ((await ingestUpload({ ...deps, ingest_bytes_max: 1e9 }, null)).result !== 'idle');
  const folder = dirname(api.ingestFolder());
  await sweepDaysLater(db, { at: (clock) => openFolderBuckets(folder, { clock }) });
  expect(await brokenRows(db)).toEqual([]);
  expect(await brokenObjects(db, (bucket) => readFolderObjects(join(folder, bucket)))).toEqual([]);
}, 300_000);

async function wrongReservations() {
  return api.db.query(
    `select project_slug, reserved_bytes, open.bytes from projects left join lateral (
       select coalesce(sum(size_bytes), 0)::bigint as bytes from uploads
       where uploads.project_id = projects.project_id and status in ('created', 'uploaded', 'processing')
     ) open on true where reserved_bytes <> open.bytes`,
  );
}
