// Spec: States and transitions, Upload session. A storage failure is not the image's fault: nothing is half published,
// no attempt is charged, and the upload is published once the storage is back.
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findFile } from '../../../../runtime/db/files.ts';
import { findProject } from '../../../../runtime/db/projects.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import type { Buckets } from '../../../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../../../runtime/platform/storage/s3.ts';
import { ingestUpload } from '../../../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox, type Sandbox } from '../../../../runtime/worker/sandbox/sandbox.ts';
import { useDatabase } from '../../../support/database.ts';
import { over, photograph } from '../../../support/pictures.ts';
import { makeProject } from '../../../support/rows.ts';
import {
  connectS3,
  createBucket,
  type S3Server,
  startS3Server,
} from '../../../support/s3-server.ts';
import {
  type StorageFault,
  type StorageFaultProxy,
  startStorageFaultProxy,
} from '../../../support/storage-fault-proxy.ts';
import { arrive, uploadAsItIs } from '../../../support/uploads.ts';

const { db } = useDatabase();
const log = createLog({ level: 'silent', name: 'test' });
let s3: S3Server;
let proxy: StorageFaultProxy;
let sandbox: Sandbox;
let buckets: Buckets;
let patient: Buckets;
let unhurried: Buckets;
let bytes: Buffer;

beforeAll(async () => {
  bytes = await over(photograph(1100, 300)).jpeg().toBuffer();
  const limits = { slots: 1, memory_bytes: 2e9, jobs_per_child: 100 };
  sandbox = createSandbox({ ...limits, wall_clock_ms: 30_000, log });
  s3 = await startS3Server();
  proxy = await startStorageFaultProxy(s3.endpoint);
  const at = { ...s3, endpoint: proxy.endpoint };
  const open = (options: { attempts: number; deadlineMs?: number }): Buckets => {
    const { deadlineMs = 1500 } = options;
    const access = connectS3(at, { ...options, deadlineMs, silenceMs: deadlineMs });
    return { ingest: createS3Bucket(access, 'ingest'), content: createS3Bucket(access, 'content') };
  };
  for (const name of ['ingest', 'content']) await createBucket(connectS3(s3), name);
  buckets = open({ attempts: 1 });
  patient = open({ attempts: 3 });
  unhurried = open({ attempts: 1, deadlineMs: 60_000 });
});
afterEach(() => proxy.set(undefined));
afterAll(async () => {
  await sandbox.close();
  await proxy.close();
  await s3.stop();
});

const ingest = (uploadId: string, through = buckets) =>
  ingestUpload(
    { db, buckets: through, sandbox, log, clock: systemClock, ingest_bytes_max: 1e9 },
    uploadId,
  );
const begin = async () => {
  const project = await makeProject(db);
  const upload = await arrive({ db, buckets }, project, { bytes, file_slug: 'picture' });
  return { project, upload };
};
type Begun = Awaited<ReturnType<typeof begin>>;

async function expectPublishedWhole({ project, upload }: Begun): Promise<void> {
  const { project_id } = project;
  const file = await findFile(db, { project_id, file_slug: 'picture' });
  expect(await uploadAsItIs(db, upload)).toMatchObject({ status: 'ready', revision: 1 });
  const master = await buckets.content.read(file?.object_key ?? '');
  const digest = createHash('sha256').update(master ?? '');
  expect(digest.digest('hex')).toBe(file?.sha256);
  for (const { object_key, size_bytes } of file?.mezzanines ?? []) {
    expect((await buckets.content.head(object_key))?.size_bytes).toBe(size_bytes);
  }
  const counted = { file_count: 1, storage_bytes: file?.size_bytes, reserved_bytes: 0 };
  expect(await findProject(db, project_id)).toMatchObject(counted);
}

const before = ['reset', 'status_500', 'silence', 'reply_dropped'] as const;
const answers = ['status_404', 'status_302'] as const;
const faults: StorageFault[] = [
  ...[...before, ...answers].map((kind) => ({ operation: 'get', kind }) as const),
  { operation: 'get', kind: 'body_cut' },
  ...[...before, ...answers].map((kind) => ({ operation: 'put', kind }) as const),
  { operation: 'put', kind: 'request_cut' },
];

describe('an ingest attempt', () => {
  it.each(faults)(
    'is excused and publishes nothing if storage fails at $operation with $kind',
    async (fault) => {
      const begun = await begin();
      const { project, upload } = begun;
      for (let attempt = 1; attempt <= 6; attempt += attempt === 1 ? 5 : 1) {
        await db.query(
          `update uploads set attempt = $2 - 1, excused_count = $2 - 1 where upload_id = $1`,
          [upload.upload_id, attempt],
        );
        proxy.set(fault);
        expect((await ingest(upload.upload_id)).result).toBe('retry');
        expect(proxy.hits()).toBeGreaterThan(0);
        const row = await uploadAsItIs(db, upload);
        expect(row).toMatchObject({ status: 'processing', attempt, excused_count: attempt });
        const slug = { project_id: project.project_id, file_slug: 'picture' };
        expect(await findFile(db, slug)).toBeUndefined();
        await db.query(
          'update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1',
          [upload.upload_id],
        );
      }
      proxy.set(undefined);
      expect((await ingest(upload.upload_id)).result).toBe('ready');
      await expectPublishedWhole(begun);
    },
  );

  it.each(before)('still succeeds if only the deletion of its source fails (%s)', async (kind) => {
    const begun = await begin();
    proxy.set({ operation: 'delete', kind });
    expect((await ingest(begun.upload.upload_id)).result).toBe('ready');
    proxy.set(undefined);
    await expectPublishedWhole(begun);
    const doomed = await db.query('select from doomed_objects where object_key = $1', [
      begun.upload.ingest_key,
    ]);
    expect(doomed).toHaveLength(1);
  });

  it.each([
    { operation: 'get', kind: 'reset' },
    { operation: 'put', kind: 'status_500' },
    { operation: 'put', kind: 'reply_dropped' },
  ] as const)('repeats a storage call that fails once, at $operation with $kind', async (fault) => {
    const begun = await begin();
    proxy.set({ ...fault, times: 1 });
    expect((await ingest(begun.upload.upload_id, patient)).result).toBe('ready');
    expect(proxy.hits()).toBe(1);
    expect(await uploadAsItIs(db, begun.upload)).toMatchObject({ attempt: 1, excused_count: 0 });
    await expectPublishedWhole(begun);
  });

  it.each([
    { operation: 'get', kind: 'slow_headers' },
    { operation: 'get', kind: 'slow_body' },
    { operation: 'put', kind: 'slow_headers' },
  ] as const)('waits for slow storage, at $operation with $kind', async (fault) => {
    const begun = await begin();
    proxy.set(fault);
    expect((await ingest(begun.upload.upload_id, unhurried)).result).toBe('ready');
    expect(proxy.hits()).toBeGreaterThan(0);
    expect(await uploadAsItIs(db, begun.upload)).toMatchObject({ attempt: 1, excused_count: 0 });
    proxy.set(undefined);
    await expectPublishedWhole(begun);
  });
});
