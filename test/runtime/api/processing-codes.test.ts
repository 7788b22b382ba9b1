// Spec: Processing error codes. Each code as a client of the API sees it, from the real decoder and real bytes: in the
// session, and with a helpful message in the response to complete.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { processingErrors } from '../../../runtime/core/errors.ts';
import { PROCESSING_ATTEMPTS_MAX } from '../../../runtime/core/limits.ts';
import type { UploadRecord } from '../../../runtime/core/resources/upload.ts';
import { claimUpload } from '../../../runtime/db/claim-upload.ts';
import { findUpload } from '../../../runtime/db/uploads.ts';
import { uploadSweep } from '../../../runtime/jobs/upload-sweep.ts';
import { noCdn } from '../../../runtime/platform/cdn/cdn.ts';
import { ingestUpload } from '../../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox, type Sandbox } from '../../../runtime/worker/sandbox/sandbox.ts';
import specification from '../../spec/errors.json' with { type: 'json' };
import { type Caller, createKey, createProject, newSubject } from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';
import { animatedPng, over, photograph } from '../../support/pictures.ts';
import { must } from '../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
let call: Caller;
let path: string;
let photo: Buffer;
/** One with an ordinary time limit, and one in which every job times out. */
let sandbox: Sandbox;
let hurried: Sandbox;

beforeAll(async () => {
  const project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/uploads`;
  call = api.withKey(await createKey(owner, project.project_slug, ['files:write', 'files:read']));
  photo = await over(photograph(200, 150)).png().toBuffer();
  const usual = {
    slots: 1,
    memory_bytes: 1_000_000_000,
    jobs_per_child: 1000,
    log: api.deps().log,
  };
  sandbox = createSandbox({ ...usual, wall_clock_ms: 60_000 });
  hurried = createSandbox({ ...usual, wall_clock_ms: 1 });
});
afterAll(() => Promise.all([sandbox.close(), hurried.close()]));

async function create(bytes: Buffer, settings: object = {}): Promise<UploadRecord> {
  const input = { content_type: 'image/png', size_bytes: bytes.length, ...settings };
  const { status, body } = await call('POST', path, input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const complete = ({ upload_id }: UploadRecord) => call('POST', `${path}/${upload_id}/complete`);
const rowOf = async ({ upload_id }: UploadRecord) => must(await findUpload(api.db, upload_id));

async function store(upload: UploadRecord, bytes: Buffer): Promise<void> {
  const { ingest_key, content_type } = await rowOf(upload);
  await api.deps().buckets.ingest.write(ingest_key, bytes, { content_type });
}

async function send(bytes: Buffer, settings: object = {}): Promise<UploadRecord> {
  const upload = await create(bytes, settings);
  await store(upload, bytes);
  expect((await complete(upload)).status).toBe(200);
  return upload;
}

/** Expires the lease or retry delay of an upload, so that it can be claimed now. */
function endLease({ upload_id }: UploadRecord) {
  return api.db.query(
    `update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1 and status = 'processing'`,
    [upload_id],
  );
}

async function work(upload: UploadRecord, inside = sandbox, ingest_bytes_max = 5_000_000) {
  const { db, clock, log, buckets } = api.deps();
  await endLease(upload);
  const deps = { db, clock, log, buckets, sandbox: inside, ingest_bytes_max };
  return ingestUpload(deps, upload.upload_id);
}

async function worked(upload: UploadRecord): Promise<UploadRecord> {
  await work(upload);
  return upload;
}

/** The PNG, with a header that claims to be a square of this side. */
function sized(png: Buffer, side: number): Buffer {
  const lie = Buffer.from(png);
  lie.writeUInt32BE(side, 16);
  lie.writeUInt32BE(side, 20);
  return lie;
}

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const overwritten = async (bytes: Buffer, settings: object = {}) => {
  const upload = await send(photo, settings);
  await store(upload, bytes);
  return worked(upload);
};

const produced: Record<keyof typeof processingErrors, () => Promise<UploadRecord>> = {
  unsupported_media_type: async () => worked(await send(Buffer.from('no image at all'))),
  animated_not_supported: async () => worked(await send(animatedPng(photo))),
  image_too_large: async () => worked(await send(sized(photo, 40_000))),
  decode_failed: async () => worked(await send(photo.subarray(0, photo.length / 2))),
  ingest_size_mismatch: () => overwritten(Buffer.concat([photo, Buffer.alloc(10)])),
  sha256_mismatch: () =>
    overwritten(Buffer.alloc(photo.length), {
      sha256: digestOf(photo),
    }),
  file_too_large: async () => {
    const upload = await send(photo);
    await work(upload, sandbox, photo.length - 1);
    return upload;
  },
  ingest_object_missing: async () => {
    const upload = await send(photo);
    await api.deps().buckets.ingest.delete((await rowOf(upload)).ingest_key);
    return worked(upload);
  },
  processing_timeout: async () => {
    const upload = await send(photo);
    for (let attempt = 0; attempt < 3; attempt += 1) await work(upload, hurried);
    return upload;
  },
  processing_abandoned: async () => {
    const upload = await send(photo);
    // Workers claim the upload and die.
    for (let attempt = 0; attempt < PROCESSING_ATTEMPTS_MAX; attempt += 1) {
      await claimUpload(api.db, { upload_id: upload.upload_id, lease_seconds: 60 });
      await endLease(upload);
    }
    return worked(upload);
  },
  session_expired: async () => {
    const upload = await create(photo);
    await api.db.query(
      `update uploads set created_at = created_at - interval '1 hour', expires_at = now()
       where upload_id = $1`,
      [upload.upload_id],
    );
    const { db, clock, log, queue, buckets } = api.deps();
    const signal = new AbortController().signal;
    const deps = { db, clock, log, queue, buckets, cdn: noCdn };
    await uploadSweep({ ...deps, at: clock.now(), run: 'codes', signal });
    return upload;
  },
};

describe('processing error codes', () => {
  it('are all produced by this test', () => {
    const specified = specification.processing.rows.map(({ error_code }) => error_code);
    expect(Object.keys(produced).toSorted()).toEqual(specified.toSorted());
  });

  it.each(Object.entries(produced))(
    '%s appears in the upload session and is explained by complete',
    async (code, make) => {
      const upload = await make();
      const session = await call('GET', `${path}/${upload.upload_id}`);
      const ended = code === 'session_expired' ? 'expired' : 'failed';
      expect([session.body.status, session.body.error_code]).toEqual([ended, code]);
      const { status, body } = await complete(upload);
      if (ended === 'expired') expect([status, body.error.code]).toEqual([410, 'upload_expired']);
      else expect([status, body.error.code]).toEqual([422, code]);
      expect(body.error.message).toMatch(/^[A-Z].{20,}\.$/);
    },
  );

  it('sha256_mismatch reports the digest that the worker read, not one of an earlier attempt', async () => {
    const declared = digestOf(photo);
    const upload = await create(photo, { sha256: declared });
    await store(upload, Buffer.alloc(photo.length, 1));
    expect((await complete(upload)).status).toBe(422);
    await store(upload, photo);
    expect((await complete(upload)).status).toBe(200);
    const last = Buffer.alloc(photo.length, 2);
    await store(upload, last);
    await work(upload);
    const { error } = (await complete(upload)).body;
    expect(error.details).toEqual({ sha256: declared, stored_sha256: digestOf(last) });
    expect(error.message).toContain('Create a new upload');
  });
});
