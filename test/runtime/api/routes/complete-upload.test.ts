// Spec: Uploads (POST …/complete); Upload session (status).
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failUpload } from '../../../../runtime/actions/fail-upload.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { type UploadRecord, uploadRecord } from '../../../../runtime/core/resources/upload.ts';
import { claimUpload } from '../../../../runtime/db/claim-upload.ts';
import { updateUploadExpired } from '../../../../runtime/db/upload-ends.ts';
import { findUpload } from '../../../../runtime/db/uploads.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { must, publish } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const bytes = Buffer.from('not yet known to be a picture');
const rung: unknown[] = [];
let path: string;
let call: Caller;
let listener: { stop(): Promise<void> };

beforeAll(async () => {
  const project: ProjectRecord = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/uploads`;
  call = api.withKey(await createKey(owner, project.project_slug, ['files:write', 'files:read']));
  listener = await api.deps().queue.consume('ingest', { slots: 1 }, async (message) => {
    rung.push(message);
  });
});
afterAll(() => listener.stop());

async function create(settings: object = {}): Promise<UploadRecord> {
  const body = { content_type: 'image/png', size_bytes: bytes.length, ...settings };
  return (await call('POST', path, body)).body;
}

async function send({ direct }: UploadRecord): Promise<void> {
  const headers = { 'content-type': direct?.headers['content-type'] ?? '' };
  const answer = await fetch(direct?.put_url ?? '', { method: 'PUT', body: bytes, headers });
  expect(answer.status).toBe(200);
}

const complete = ({ upload_id }: UploadRecord, body?: unknown, caller = call) =>
  caller('POST', `${path}/${upload_id}/complete`, body);
const statusOf = async ({ upload_id }: UploadRecord) =>
  (await call('GET', `${path}/${upload_id}`)).body.status;

describe('POST …/complete', () => {
  it('accepts the bytes that arrived and notifies a worker', async () => {
    const upload = await create();
    await send(upload);
    const { status, body } = await complete(upload);
    expect(status).toBe(200);
    expectRecord(uploadRecord, body);
    expect(body).toMatchObject({
      upload_id: upload.upload_id,
      status: 'uploaded',
      error_code: null,
    });
    expect(body).not.toHaveProperty('direct');
    await expect.poll(() => rung).toContainEqual({ upload_id: upload.upload_id });
  });

  it('accepts {} or no body from a session or an API key, and rejects unknown fields', async () => {
    for (const caller of [owner, call])
      for (const body of [{}, undefined]) {
        const sent = await create();
        await send(sent);
        expect((await complete(sent, body, caller)).body.status).toBe('uploaded');
      }
    const upload = await create();
    const unknown = await complete(upload, { etag: 'x' });
    expect(codeOf(unknown)).toBe('400 invalid_request');
    expect(issuesOf(unknown)).toEqual(['etag']);
  });

  it('returns 409 ingest_object_missing before the bytes arrive, and succeeds afterwards', async () => {
    const upload = await create();
    expect(codeOf(await complete(upload))).toBe('409 ingest_object_missing');
    await send(upload);
    expect((await complete(upload)).status).toBe(200);
  });

  it('returns 409 ingest_size_mismatch with both sizes if the stored object has another size', async () => {
    const upload = await create();
    const { ingest_key } = must(await findUpload(api.db, upload.upload_id));
    await api
      .deps()
      .buckets.ingest.write(ingest_key, Buffer.alloc(3), { content_type: 'image/png' });
    const answer = await complete(upload);
    expect(codeOf(answer)).toBe('409 ingest_size_mismatch');
    expect(answer.body.error.details).toEqual({ size_bytes: bytes.length, stored_bytes: 3 });
    expect(await statusOf(upload)).toBe('created');
  });

  it('returns 422 sha256_mismatch if the bytes differ from the declared digest, and stays created', async () => {
    const upload = await create({ sha256: '0'.repeat(64) });
    await send(upload);
    expect(codeOf(await complete(upload))).toBe('422 sha256_mismatch');
    expect(await statusOf(upload)).toBe('created');
  });

  it('accepts bytes that match the declared digest', async () => {
    const upload = await create({ sha256: createHash('sha256').update(bytes).digest('hex') });
    await send(upload);
    expect((await complete(upload)).body.status).toBe('uploaded');
  });

  it('returns 400 not_multipart if any parts are sent, and the session stays created', async () => {
    const upload = await create();
    await send(upload);
    for (const parts of [[{ part_number: 1, etag: 'x' }], [], null, 'x']) {
      expect(codeOf(await complete(upload, { parts }))).toBe('400 not_multipart');
    }
    expect(await statusOf(upload)).toBe('created');
  });

  it('returns 410 upload_expired after expires_at, swept or not', async () => {
    const upload = await create();
    await api.db.query(
      `update uploads set expires_at = now() - interval '1 second' where upload_id = $1`,
      [upload.upload_id],
    );
    const { expires_at } = (await call('GET', `${path}/${upload.upload_id}`)).body;
    for (const sweep of [false, true]) {
      if (sweep) await api.db.transaction((tx) => updateUploadExpired(tx, upload.upload_id));
      const answer = await complete(upload);
      expect(codeOf(answer)).toBe('410 upload_expired');
      expect(answer.body.error.details).toEqual({ expires_at });
    }
    const { body } = await call('GET', `${path}/${upload.upload_id}`);
    expectRecord(uploadRecord, body);
    expect(body).toMatchObject({ status: 'expired', error_code: 'session_expired' });
  });
});

describe('repeating complete', () => {
  async function processing(): Promise<UploadRecord> {
    const upload = await create();
    await send(upload);
    await complete(upload);
    must(await claimUpload(api.db, { upload_id: upload.upload_id, lease_seconds: 60 }));
    return upload;
  }

  it('notifies a worker only once when 10 requests arrive concurrently', async () => {
    const upload = await create();
    await send(upload);
    const before = rung.length;
    const answers = await Promise.all(Array.from({ length: 10 }, () => complete(upload)));
    expect(answers.map(codeOf)).toEqual(Array(10).fill('200'));
    const mine = () =>
      rung.slice(before).filter((each) => JSON.stringify(each).includes(upload.upload_id));
    await expect.poll(mine).toHaveLength(1);
  });

  it('answers 200 with the session while it is processed and when it is ready', async () => {
    const upload = await processing();
    expect((await complete(upload)).body.status).toBe('processing');
    const row = must(await findUpload(api.db, upload.upload_id));
    const file = await publish(api.db, row);
    const { status, body } = await complete(upload);
    expect(status).toBe(200);
    expectRecord(uploadRecord, body);
    expect(body).toMatchObject({ status: 'ready', file_id: file.file_id, revision: 1 });
    expect(body.ready_at).not.toBeNull();
  });

  it('answers 422 with the session’s error_code once it failed', async () => {
    const upload = await processing();
    const { attempt } = must(await findUpload(api.db, upload.upload_id));
    const { upload_id } = upload;
    const failure = { upload_id, attempt, error_code: 'animated_not_supported' } as const;
    must(await failUpload(api, failure));
    expect(codeOf(await complete(upload))).toBe('422 animated_not_supported');
    const { body } = await call('GET', `${path}/${upload_id}`);
    expectRecord(uploadRecord, body);
    expect(body).toMatchObject({ status: 'failed', error_code: 'animated_not_supported' });
  });
});
