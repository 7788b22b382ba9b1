// Spec: Upload session (status); Errors, 503. What a client sees when storage fails, for each call: the session stays
// as it was, and the same call succeeds once storage works again.

import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { UploadRecord } from '../../../runtime/core/resources/upload.ts';
import { findUpload } from '../../../runtime/db/uploads.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import type { Bucket } from '../../../runtime/platform/storage/bucket.ts';
import { createFolderBucket } from '../../../runtime/platform/storage/folder.ts';
import { createS3Bucket } from '../../../runtime/platform/storage/s3.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  newSubject,
} from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';
import { connectS3, createBucket, type S3Server, startS3Server } from '../../support/s3-server.ts';
import {
  SLOW_MS,
  type StorageFaultKind,
  type StorageFaultProxy,
  type StorageOperation,
  startStorageFaultProxy,
} from '../../support/storage-fault-proxy.ts';

const MIB = 2 ** 20;
const api = useApi();
const owner = api.session(newSubject());
const small = randomBytes(2000);
/** In two parts: the smallest first one, and a short last one. */
const large = randomBytes(5 * MIB + 1000);
let s3: S3Server;
let proxy: StorageFaultProxy;
let ingest: Bucket;
/** With timeouts that no slow answer exceeds, and with timeouts that every slow answer exceeds. */
let patient: Bucket;
let impatient: Bucket;
let call: Caller;
let path: string;

beforeAll(async () => {
  s3 = await startS3Server();
  proxy = await startStorageFaultProxy(s3.endpoint);
  await createBucket(connectS3(s3), 'ingest');
  const open = (milliseconds: number) => {
    const hasty = { attempts: 1, deadlineMs: milliseconds, silenceMs: milliseconds };
    return createS3Bucket(connectS3({ ...s3, endpoint: proxy.endpoint }, hasty), 'ingest');
  };
  ingest = open(1500);
  patient = open(60_000);
  impatient = open(Math.floor(SLOW_MS / 3));
  const project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/uploads`;
  call = api.withKey(await createKey(owner, project.project_slug, ['files:write', 'files:read']));
});
afterEach(() => proxy.set(undefined));
afterAll(async () => {
  await proxy.close();
  await s3.stop();
});

const useBucket = (bucket: Bucket) =>
  api.change({
    buckets: { ...api.deps().buckets, ingest: bucket },
    settings: { ingestMaxBytes: 100 * MIB },
  });
const create = (bytes: Buffer, settings: object = {}) =>
  call('POST', path, { content_type: 'image/png', size_bytes: bytes.length, ...settings });
const statusOf = async (upload: UploadRecord) =>
  (await call('GET', `${path}/${upload.upload_id}`)).body.status;
const complete = (upload: UploadRecord, body?: unknown) =>
  call('POST', `${path}/${upload.upload_id}/complete`, body);

async function made(bytes: Buffer, settings: object = {}): Promise<UploadRecord> {
  const { status, body } = await create(bytes, settings);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

async function put(url: string, bytes: Buffer, headers: object = {}) {
  const answer = await fetch(url, {
    method: 'PUT',
    body: new Uint8Array(bytes),
    headers: { ...headers },
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text };
}

async function arrived(settings: object = {}): Promise<UploadRecord> {
  const upload = await made(small, settings);
  expect((await put(upload.direct?.put_url ?? '', small, upload.direct?.headers)).status).toBe(200);
  return upload;
}

async function partsOf(upload: UploadRecord) {
  const { part_size = 0, parts = [] } = upload.multipart ?? {};
  const sent = [];
  for (const [at, { url, part_number }] of parts.entries()) {
    const { headers } = await put(url, large.subarray(at * part_size, (at + 1) * part_size));
    sent.push({ part_number, etag: headers.get('etag') ?? '' });
  }
  return { parts: sent };
}

/** A call, and its operation on storage. */
type Scene = {
  name: string;
  operation: StorageOperation;
  /** Prepares the call, which can be repeated. */
  set(): Promise<{ upload?: UploadRecord; act(): Promise<string> }>;
  /** What the call answers once storage works again. */
  afterwards: string;
};

const scenes: Scene[] = [
  {
    name: 'creating a multipart upload',
    operation: 'createMultipart',
    set: async () => ({ act: async () => codeOf(await create(large, { parts: 2 })) }),
    afterwards: '201',
  },
  {
    name: 'complete',
    operation: 'head',
    set: async () => {
      const upload = await arrived();
      return { upload, act: async () => codeOf(await complete(upload)) };
    },
    afterwards: '200',
  },
  {
    name: 'completing an upload with a digest',
    operation: 'get',
    set: async () => {
      const sha256 = createHash('sha256').update(small).digest('hex');
      const upload = await arrived({ sha256 });
      return { upload, act: async () => codeOf(await complete(upload)) };
    },
    afterwards: '200',
  },
  {
    name: 'completing a multipart upload',
    operation: 'completeMultipart',
    set: async () => {
      const upload = await made(large, { parts: 2 });
      const list = await partsOf(upload);
      return { upload, act: async () => codeOf(await complete(upload, list)) };
    },
    afterwards: '200',
  },
  {
    name: 'a proxy PUT',
    operation: 'put',
    set: async () => {
      const upload = await made(small, { mode: 'proxy' });
      const act = async () => {
        const url = upload.proxy?.put_url ?? '';
        const { status, text } = await put(url, small, { 'content-type': 'image/png' });
        return status === 204 ? '204' : `${status} ${JSON.parse(text).error.code}`;
      };
      return { upload, act };
    },
    afterwards: '204',
  },
];

const BEFORE_THE_EFFECT: StorageFaultKind[] = ['reset', 'status_500', 'silence'];

describe.each(BEFORE_THE_EFFECT)('while the storage fails with %s', (kind) => {
  it.each(scenes)(
    '$name returns 503 storage_unavailable, changes nothing, and succeeds afterwards',
    async (scene) => {
      useBucket(ingest);
      const { upload, act } = await scene.set();
      proxy.set({ operation: scene.operation, kind });
      expect(await act()).toBe('503 storage_unavailable');
      expect(proxy.hits()).toBeGreaterThan(0);
      proxy.set(undefined);
      if (upload !== undefined) expect(await statusOf(upload)).toBe('created');
      expect(await act()).toBe(scene.afterwards);
    },
  );

  it('an abort returns 200 and expires the session all the same', async () => {
    useBucket(ingest);
    const upload = await made(large, { parts: 2 });
    proxy.set({ operation: 'abortMultipart', kind });
    expect(codeOf(await call('POST', `${path}/${upload.upload_id}/abort`))).toBe('200');
    proxy.set(undefined);
    expect(await statusOf(upload)).toBe('expired');
  });
});

describe('while responses of the storage are lost after their effect', () => {
  it.each(scenes)('$name succeeds, either immediately or when repeated', async (scene) => {
    useBucket(ingest);
    const { upload, act } = await scene.set();
    proxy.set({ operation: scene.operation, kind: 'reply_dropped', times: 1 });
    const first = await act();
    expect([scene.afterwards, '503 storage_unavailable']).toContain(first);
    proxy.set(undefined);
    if (first === scene.afterwards) return;
    if (upload !== undefined) expect(await statusOf(upload)).toBe('created');
    expect(await act()).toBe(scene.afterwards);
  });
});

describe('while the storage is slow', () => {
  it.each(['slow_headers', 'slow_body'] as const)(
    'with %s, every call waits for it and succeeds',
    async (kind) => {
      useBucket(patient);
      for (const { set, operation, afterwards } of scenes) {
        const { act } = await set();
        proxy.set({ operation, kind });
        expect(await act(), operation).toBe(afterwards);
        expect(proxy.hits()).toBeGreaterThan(0);
        proxy.set(undefined);
      }
    },
  );

  // Storage performs the operation although it answers too late. The multipart complete call checks
  // for this, so its first attempt may succeed.
  it.each(scenes)(
    '$name returns 503 storage_unavailable beyond the deadline, and succeeds afterwards',
    async (scene) => {
      useBucket(patient);
      const { upload, act } = await scene.set();
      proxy.set({ operation: scene.operation, kind: 'slow_headers' });
      useBucket(impatient);
      const first = await act();
      const isDone = scene.operation === 'completeMultipart' && first === scene.afterwards;
      if (!isDone) expect(first).toBe('503 storage_unavailable');
      proxy.set(undefined);
      useBucket(patient);
      if (!isDone && upload !== undefined) expect(await statusOf(upload)).toBe('created');
      expect(await act()).toBe(scene.afterwards);
    },
  );
});

describe('a PUT that is cut off in the middle', () => {
  const unfinished = async (upload: UploadRecord) => {
    proxy.set(undefined);
    expect(await statusOf(upload)).toBe('created');
    const row = await findUpload(api.db, upload.upload_id);
    expect(await ingest.read(row?.ingest_key ?? '')).toBeUndefined();
    expect(codeOf(await complete(upload))).toBe('409 ingest_object_missing');
  };

  it('through the service returns 503, leaves no object, and can be repeated', async () => {
    useBucket(ingest);
    const upload = await made(small, { mode: 'proxy' });
    const send = () => put(upload.proxy?.put_url ?? '', small, { 'content-type': 'image/png' });
    proxy.set({ operation: 'put', kind: 'request_cut' });
    expect((await send()).status).toBe(503);
    expect(proxy.hits()).toBe(1);
    await unfinished(upload);
    expect((await send()).status).toBe(204);
  });

  it('from the client to the storage leaves no object, and can be repeated', async () => {
    useBucket(ingest);
    const upload = await made(small);
    const { put_url = '', headers } = upload.direct ?? {};
    proxy.set({ operation: 'put', kind: 'request_cut' });
    await expect(put(put_url, small, headers)).rejects.toThrow();
    await unfinished(upload);
    expect((await put(put_url, small, headers)).status).toBe(200);
    expect(codeOf(await complete(upload))).toBe('200');
  });
});

describe('folder storage', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tintype-full-'));
  const mounted = join(folder, 'small');
  const isRoot = process.getuid?.() === 0;
  const open = (at: string) =>
    createFolderBucket({
      name: 'ingest',
      folder: at,
      publicUrl: 'http://127.0.0.1:1',
      secret: Buffer.alloc(32, 5),
      clock: systemClock,
    });

  beforeAll(() => {
    mkdirSync(mounted);
    if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mounted]);
    else chmodSync(mounted, 0o500);
  });
  afterAll(() => {
    if (isRoot) execFileSync('umount', ['-l', mounted]);
    rmSync(folder, { recursive: true });
  });

  it('returns 503 storage_unavailable, logs what to do and leaves nothing if full or not writable', async () => {
    useBucket(open(mounted));
    const bytes = randomBytes(3 * MIB);
    const upload = await made(bytes, { mode: 'proxy' });
    const send = () => put(upload.proxy?.put_url ?? '', bytes, { 'content-type': 'image/png' });
    const { status, text } = await send();
    expect([status, JSON.parse(text).error.code]).toEqual([503, 'storage_unavailable']);
    expect(await statusOf(upload)).toBe('created');
    expect(JSON.stringify(api.logged())).toMatch(/disk is full; free some space|cannot be used/);
    expect(await open(mounted).list({ prefix: '', limit: 10 })).toEqual([]);
    useBucket(api.deps().buckets.ingest);
    expect((await send()).status).toBe(204);
  });

  it.runIf(isRoot)('returns 503 and logs the reason if it has become read-only', async () => {
    execFileSync('mount', ['-o', 'remount,ro', mounted]);
    useBucket(open(mounted));
    const upload = await made(small, { mode: 'proxy' });
    const { status } = await put(upload.proxy?.put_url ?? '', small, {
      'content-type': 'image/png',
    });
    expect(status).toBe(503);
    expect(JSON.stringify(api.logged())).toContain('read-only file system');
    execFileSync('mount', ['-o', 'remount,rw', mounted]);
  });
});
