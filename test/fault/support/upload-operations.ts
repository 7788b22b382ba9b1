/** Every operation that changes an upload session: first with a fault, then retried as its caller would. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { signStorageEvent } from '../../../runtime/core/signing/storage-event.ts';
import type { Database } from '../../../runtime/db/client.ts';
import { findUpload, type UploadRow } from '../../../runtime/db/uploads.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { ingestUpload } from '../../../runtime/worker/ingest/ingest-upload.ts';
import type { Sandbox } from '../../../runtime/worker/sandbox/sandbox.ts';
import { type Answer, codeOf } from '../../support/api-client.ts';
import { type Api, STORAGE_EVENT_SECRET } from '../../support/api-server.ts';
import { must } from '../../support/rows.ts';
import { arrive, uploadAsItIs } from '../../support/uploads.ts';

export type Scene = {
  api: Api;
  project: { project_id: string; project_slug: string };
  api_key: string;
  sandbox: Sandbox;
  /** A small image, a rejected one, and one that can be sent in two parts. */
  bytes: { good: Buffer; bad: Buffer; large: Buffer };
};

/** One upload for one try of the operation. */
export type Trial = {
  /** Runs the operation on a database that may fail. `again` checks the outcome. */
  act(db: Database): Promise<void>;
  /** Retries without faults, as the caller would. Throws if the outcome is wrong. */
  again(): Promise<void>;
};

export type Operation = { name: string; prepare(scene: Scene): Promise<Trial> };

export const operations: readonly Operation[] = [
  { name: 'create a direct upload', prepare: (scene) => creating(scene, {}) },
  { name: 'create a multipart upload', prepare: (scene) => creating(scene, { parts: 2 }) },
  { name: 'create a proxy upload', prepare: (scene) => creating(scene, { mode: 'proxy' }) },
  { name: 'create an upload without a key', prepare: creatingTwice },
  { name: 'complete a multipart upload', prepare: completingParts },
  { name: 'put bytes through the proxy', prepare: puttingThrough },
  { name: 'tell of an object by a storage event', prepare: notifying },
  { name: 'abort an upload', prepare: aborting },
  { name: 'claim an upload and publish its file', prepare: (scene) => ingesting(scene, 'good') },
  { name: 'claim an upload and fail it', prepare: (scene) => ingesting(scene, 'bad') },
];

type Sent = Parameters<Api['send']>[0];

const LARGE_UPLOADS = { settings: { ingestMaxBytes: 50_000_000 } };

async function sendWith({ api }: Scene, db: Database | undefined, sent: Sent): Promise<Answer> {
  api.change({ ...LARGE_UPLOADS, ...(db === undefined ? {} : { db }) });
  try {
    return await api.send(sent);
  } finally {
    api.change(LARGE_UPLOADS);
  }
}

/** Expects the response to be a success or the outage. */
function mayBeOut(answer: Answer, ...codes: string[]): Answer {
  expect([...codes, '503 storage_unavailable', '503 query_timeout']).toContain(codeOf(answer));
  return answer;
}

const uploadsOf = ({ project }: Scene) => `/v1/projects/${project.project_slug}/uploads`;

async function creating(scene: Scene, way: object): Promise<Trial> {
  const key = randomUUID();
  const { good, large } = scene.bytes;
  const size_bytes = 'parts' in way ? large.length : good.length;
  const input = { content_type: 'image/png', size_bytes };
  const sent: Sent = {
    method: 'POST',
    path: uploadsOf(scene),
    body: { ...input, ...way, file_slug: key },
    headers: { 'x-api-key': scene.api_key, 'idempotency-key': key },
  };
  let first: Answer;
  return {
    act: async (db) => {
      first = mayBeOut(await sendWith(scene, db, sent), '200', '201');
    },
    again: async () => {
      const second = await sendAgain(scene, sent, key);
      expect(second.status, second.text).toBe(201);
      if (first.status === 201) expect(second.body).toEqual(first.body);
      const rows = await scene.api.db.query('select upload_id from uploads where file_slug = $1', [
        key,
      ]);
      expect(rows).toEqual([{ upload_id: second.body.upload_id }]);
    },
  };
}

/**
 * Without an Idempotency-Key, the second call creates a second session, and the first one expires.
 */
async function creatingTwice(scene: Scene): Promise<Trial> {
  const { project, api_key, bytes } = scene;
  const sent: Sent = {
    method: 'POST',
    path: uploadsOf(scene),
    body: { content_type: 'image/png', size_bytes: bytes.good.length, file_slug: randomUUID() },
    headers: { 'x-api-key': api_key },
  };
  const count = `select count(*)::int from uploads where project_id = $1`;
  const [before] = await scene.api.db.query<{ count: number }>(count, [project.project_id]);
  return {
    act: async (db) => void mayBeOut(await sendWith(scene, db, sent), '201'),
    again: async () => {
      expect((await sendWith(scene, undefined, sent)).status).toBe(201);
      const [now] = await scene.api.db.query<{ count: number }>(count, [project.project_id]);
      expect([1, 2]).toContain((now?.count ?? 0) - (before?.count ?? 0));
    },
  };
}

/** If the claim of a key could not be released, the key is locked until its lease expires. */
async function sendAgain(scene: Scene, sent: Sent, key: string): Promise<Answer> {
  const answer = await sendWith(scene, undefined, sent);
  if (codeOf(answer) !== '409 idempotency_in_progress') return answer;
  await scene.api.db.query(
    'update idempotency_keys set lease_until = now() - make_interval(secs => 1) where idempotency_key = $1',
    [key],
  );
  return sendWith(scene, undefined, sent);
}

async function create(scene: Scene, bytes: Buffer, way: object = {}) {
  const answer = await sendWith(scene, undefined, {
    method: 'POST',
    path: uploadsOf(scene),
    body: { content_type: 'image/png', size_bytes: bytes.length, ...way },
    headers: { 'x-api-key': scene.api_key },
  });
  expect(answer.status, answer.text).toBe(201);
  const upload = must(await findUpload(scene.api.db, answer.body.upload_id));
  return { upload, body: answer.body };
}

/**
 * A report that the bytes have arrived, from any source. The first one causes the only transition,
 * and later ones have no effect.
 */
function accepting(
  scene: Scene,
  upload: UploadRow,
  call: { sent: Sent; repeated: string[] },
): Trial {
  const { db } = scene.api;
  const { sent, repeated } = call;
  let acceptedAt: Date | null = null;
  return {
    act: async (faulty) => {
      mayBeOut(await sendWith(scene, faulty, sent), '200', '204');
      acceptedAt = (await uploadAsItIs(db, upload)).uploaded_at;
    },
    again: async () => {
      const answer = await sendWith(scene, undefined, sent);
      expect(repeated).toContain(codeOf(answer));
      const now = await uploadAsItIs(db, upload);
      expect(now).toMatchObject({ status: 'uploaded', attempt: 0 });
      if (acceptedAt !== null) expect(now.uploaded_at).toEqual(acceptedAt);
    },
  };
}

async function completingParts(scene: Scene): Promise<Trial> {
  const { large } = scene.bytes;
  const { upload, body } = await create(scene, large, { parts: 2 });
  const { part_size } = body.multipart;
  const parts = [];
  for (const { part_number, url } of body.multipart.parts) {
    const piece = large.subarray((part_number - 1) * part_size, part_number * part_size);
    const taken = await fetch(url, { method: 'PUT', body: new Uint8Array(piece) });
    parts.push({ part_number, etag: taken.headers.get('etag') });
  }
  const path = `${uploadsOf(scene)}/${upload.upload_id}/complete`;
  const headers = { 'x-api-key': scene.api_key };
  const sent: Sent = { method: 'POST', path, body: { parts }, headers };
  return accepting(scene, upload, { sent, repeated: ['200'] });
}

async function puttingThrough(scene: Scene): Promise<Trial> {
  const { good } = scene.bytes;
  const { upload, body } = await create(scene, good, { mode: 'proxy' });
  const { pathname, search } = new URL(body.proxy.put_url);
  const headers = { 'content-type': 'image/png' };
  const sent: Sent = { method: 'PUT', path: `${pathname}${search}`, raw: good, headers };
  return accepting(scene, upload, { sent, repeated: ['204', '409 upload_not_pending'] });
}

async function notifying(scene: Scene): Promise<Trial> {
  const { good } = scene.bytes;
  const { upload } = await create(scene, good);
  const { ingest } = scene.api.deps().buckets;
  await ingest.write(upload.ingest_key, good, { content_type: 'image/png' });
  const raw = JSON.stringify({ events: [{ event: 'ObjectCreated:Put', key: upload.ingest_key }] });
  const signature = signStorageEvent(STORAGE_EVENT_SECRET, Buffer.from(raw));
  const headers = { 'x-storage-event-notification-signature': signature };
  const sent: Sent = { method: 'POST', path: '/v1/internal/storage-events', raw, headers };
  return accepting(scene, upload, { sent, repeated: ['200'] });
}

async function aborting(scene: Scene): Promise<Trial> {
  const { upload } = await create(scene, scene.bytes.large, { parts: 2 });
  const path = `${uploadsOf(scene)}/${upload.upload_id}/abort`;
  const sent: Sent = { method: 'POST', path, headers: { 'x-api-key': scene.api_key } };
  return {
    act: async (db) => void mayBeOut(await sendWith(scene, db, sent), '200'),
    again: async () => {
      const answer = await sendWith(scene, undefined, sent);
      expect([codeOf(answer), answer.body.status]).toEqual(['200', 'expired']);
    },
  };
}

/**
 * A worker's attempt, and another one after its lease. Attempts are counted exactly, and only one
 * outcome is recorded.
 */
async function ingesting(scene: Scene, picture: 'good' | 'bad'): Promise<Trial> {
  const { api, project, sandbox } = scene;
  const { db, buckets, log } = api.deps();
  const settings = { content_type: 'image/png', bytes: scene.bytes[picture] };
  const upload = await arrive({ db, buckets }, project, settings);
  const deps = { buckets, log, sandbox, clock: systemClock, ingest_bytes_max: 1e9 };
  return {
    act: async (faulty) => {
      // How long the attempt waits for a silent database to confirm its outcome.
      const lease_seconds = 1;
      const attempt = { ...deps, db: faulty, lease_seconds };
      await ingestUpload(attempt, upload.upload_id).catch(() => undefined);
    },
    again: async () => {
      const before = await uploadAsItIs(db, upload);
      await db.query(
        'update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1 and status = $2',
        [upload.upload_id, 'processing'],
      );
      await ingestUpload({ ...deps, db }, upload.upload_id);
      const isOver = before.status === 'ready' || before.status === 'failed';
      const attempt = isOver ? before.attempt : before.attempt + 1;
      const status = picture === 'good' ? 'ready' : 'failed';
      expect(await uploadAsItIs(db, upload)).toMatchObject({ status, attempt });
    },
  };
}
