// Spec: Uploads (parts, complete, parts re-sign, abort); Upload session; Limits, Uploads.
import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import {
  type UploadRecord,
  uploadPartsRecord,
  uploadRecord,
} from '../../../../runtime/core/resources/upload.ts';
import { findUpload } from '../../../../runtime/db/uploads.ts';
import type { Bucket } from '../../../../runtime/platform/storage/bucket.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { must } from '../../../support/rows.ts';
import { useS3Ingest } from '../../../support/s3-ingest.ts';
import { noteSeen } from '../../../support/seen.ts';
import { until } from '../../../support/until.ts';

const MIB = 2 ** 20;
const api = useApi();
const owner = api.session(newSubject());
/** The smallest first part, and a short last one. */
const PART_BYTES = 5 * MIB;
const bytes = randomBytes(PART_BYTES + 1000);
let project: ProjectRecord;
let path: string;
let call: Caller;
const s3Ingest = useS3Ingest();

beforeAll(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/uploads`;
  call = api.withKey(await createKey(owner, project.project_slug, ['files:write', 'files:read']));
});

const stores = [
  ['folder storage', () => api.deps().buckets.ingest],
  ['versitygw', s3Ingest],
] as const;

type Part = { part_number: number; etag: string };

describe.each(stores)('a multipart upload on %s', (_name, ingest) => {
  const begin = async (settings: object = {}): Promise<UploadRecord> => {
    api.change({
      buckets: { ...api.deps().buckets, ingest: ingest() },
      settings: { ingestMaxBytes: 100 * MIB },
    });
    const input = { content_type: 'image/png', size_bytes: bytes.length, parts: 2, ...settings };
    const { status, body } = await call('POST', path, input);
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  };
  const at = ({ upload_id }: UploadRecord, what: string, body?: unknown) =>
    call('POST', `${path}/${upload_id}/${what}`, body);
  const complete = (upload: UploadRecord, parts?: unknown) =>
    at(upload, 'complete', parts === undefined ? undefined : { parts });
  const read = async ({ upload_id }: UploadRecord) =>
    (await call('GET', `${path}/${upload_id}`)).body;
  const keyOf = async ({ upload_id }: UploadRecord) =>
    must(await findUpload(api.db, upload_id)).ingest_key;

  it('has part URLs for 15 minutes and a session of 12 hours', async () => {
    const upload = await begin();
    expectRecord(uploadRecord, upload);
    expect(upload.direct).toBeUndefined();
    expect(upload.proxy).toBeUndefined();
    expect(upload.multipart).toMatchObject({
      part_size: PART_BYTES,
      complete_url: `${api.deps().addresses.baseUrl}${path}/${upload.upload_id}/complete`,
      parts: [{ part_number: 1 }, { part_number: 2 }],
    });
    const lifetime = Date.parse(upload.expires_at) - Date.parse(upload.created_at);
    expect(lifetime).toBe(12 * 3600 * 1000);
    const urls = Date.parse(upload.multipart?.urls_expire_at ?? '') - Date.parse(upload.created_at);
    expect(urls).toBeGreaterThan(890_000);
    expect(urls).toBeLessThanOrEqual(902_000);
  });

  it('accepts a part only with its exact length and at the unaltered URL', async () => {
    const upload = await begin();
    const { parts = [], part_size = 0 } = upload.multipart ?? {};
    const url = parts[0]?.url ?? '';
    expect((await putPart(url, bytes.subarray(0, 1000))).status).toBe(403);
    // Storage may reset the connection during the upload, instead of reading on and answering 403.
    const altered = putPart(`${url}0`, bytes.subarray(0, part_size)).then(({ status }) => status);
    expect(await altered.catch(() => 403)).toBe(403);
    expect((await putPart(url, bytes.subarray(0, part_size))).status).toBe(200);
  });

  it('stores the bytes sent, whatever the order of the parts, with quoted or unquoted ETags', async () => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const upload = await begin({ sha256 });
    const parts = await send(upload);
    const list = parts.map((part) => ({ ...part, etag: part.etag.replaceAll('"', '') }));
    const { status, body } = await complete(upload, list.toReversed());
    expect([status, body.status]).toEqual([200, 'uploaded']);
    expectRecord(uploadRecord, body);
    const stored = await ingest().read(await keyOf(upload));
    expect(stored?.equals(bytes)).toBe(true);
  });

  it('fails with sha256_mismatch if the joined bytes differ from the digest, and frees its space', async () => {
    const before = await reservedBytes(project);
    const upload = await begin({ sha256: '0'.repeat(64) });
    const parts = await send(upload);
    const answer = await complete(upload, parts);
    expect(codeOf(answer)).toBe('422 sha256_mismatch');
    expect(answer.body.error.details).toEqual({
      sha256: '0'.repeat(64),
      stored_sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    expect(await read(upload)).toMatchObject({ status: 'failed', error_code: 'sha256_mismatch' });
    expect((await complete(upload, parts)).body).toEqual(answer.body);
    expect(codeOf(await at(upload, 'parts'))).toBe('409 upload_not_resumable');
    expect(await reservedBytes(project)).toBe(before);
  });

  it('is completed once by concurrent and repeated requests, with or without the list of parts', async () => {
    const upload = await begin();
    const parts = await send(upload);
    const answers = await Promise.all(Array.from({ length: 20 }, () => complete(upload, parts)));
    expect(answers.map(codeOf)).toEqual(Array(20).fill('200'));
    expect(codeOf(await complete(upload, parts))).toBe('200');
    expect(codeOf(await complete(upload))).toBe('200');
  });

  /**
   * Storage that reports success for the first `calls` completions without doing them, as versitygw
   * does for concurrent ones.
   */
  const early = (calls: number, seen = (key: string) => ingest().head(key)) => {
    let left = calls;
    const completeMultipart: Bucket['completeMultipart'] = async (key, list) => {
      left -= 1;
      if (left < 0) await ingest().completeMultipart(key, list);
    };
    const changed = { completeMultipart, head: seen };
    const get = (bucket: Bucket, name: string) =>
      Reflect.get(Object.hasOwn(changed, name) ? changed : bucket, name);
    const buckets = { ...api.deps().buckets, ingest: new Proxy(ingest(), { get }) };
    api.change({ buckets });
    return { isAsked: () => left < calls };
  };

  it('is completed even if storage reports success before the object exists', async () => {
    const upload = await begin();
    const parts = await send(upload);
    early(2);
    expect(codeOf(await complete(upload, parts))).toBe('200');
  });

  it('rejects a wrong list of parts even if storage accepted it at first', async () => {
    const upload = await begin();
    const [one, two] = (await send(upload)) as [Part, Part];
    early(1);
    expect(codeOf(await complete(upload, [one, { ...two, etag: one.etag }]))).toBe(
      '400 invalid_parts',
    );
    expect(codeOf(await complete(upload, [one, two]))).toBe('200');
  });

  it('returns 200 if another request completed it while this one still sees no object', async () => {
    const upload = await begin();
    const parts = await send(upload);
    const { isAsked } = early(1000, async () => undefined);
    const slow = complete(upload, parts);
    await expect.poll(isAsked).toBe(true);
    api.change({ buckets: { ...api.deps().buckets, ingest: ingest() } });
    expect(codeOf(await complete(upload, parts))).toBe('200');
    expect(codeOf(await slow)).toBe('200');
  });

  it('returns 400 parts_required or invalid_parts for a missing or wrong list, and stays completable', async () => {
    const upload = await begin();
    const parts = await send(upload);
    const [one, two] = parts as [Part, Part];
    expect(codeOf(await complete(upload))).toBe('400 parts_required');
    const wrong: unknown[] = [
      [],
      [one],
      [one, one],
      [one, two, { ...two, part_number: 3 }],
      [one, { ...two, part_number: 0 }],
      [one, { part_number: 2 }],
      [one, { ...two, etag: '' }],
      [one, { ...two, etag: '"ffffffffffffffffffffffffffffffff"' }],
      [
        { ...one, etag: two.etag },
        { ...two, etag: one.etag },
      ],
      [one, { ...two, size: 3 }],
      'parts',
      null,
    ];
    for (const list of wrong) {
      expect(codeOf(await complete(upload, list)), JSON.stringify(list)).toBe('400 invalid_parts');
    }
    expect(await read(upload)).toMatchObject({ status: 'created', error_code: null });
    expect(codeOf(await complete(upload, parts))).toBe('200');
  });

  it('returns 400 invalid_parts while a part is missing', async () => {
    const upload = await begin();
    const [first] = await send(upload, [1]);
    const list = [first, { part_number: 2, etag: first?.etag }];
    expect(codeOf(await complete(upload, list))).toBe('400 invalid_parts');
  });

  it('is completed by its list even if storage joined the parts before', async () => {
    const upload = await begin();
    const parts = await send(upload);
    const { storage_upload_id } = must(await findUpload(api.db, upload.upload_id));
    const list = { upload_id: storage_upload_id ?? '', parts };
    await ingest().completeMultipart(await keyOf(upload), list);
    expect(codeOf(await complete(upload, parts))).toBe('200');
  });

  it('returns 400 multipart_complete_failed if storage no longer knows it, and can be aborted', async () => {
    const upload = await begin();
    const parts = await send(upload);
    const { storage_upload_id } = must(await findUpload(api.db, upload.upload_id));
    await ingest().abortMultipart(await keyOf(upload), storage_upload_id ?? '');
    expect(codeOf(await complete(upload, parts))).toBe('400 multipart_complete_failed');
    expect((await read(upload)).status).toBe('created');
    expect((await at(upload, 'abort')).body.status).toBe('expired');
  });

  it('can be re-signed with URLs that accept the parts', async () => {
    const upload = await begin();
    const { status, body } = await at(upload, 'parts');
    expect(status).toBe(200);
    expectRecord(uploadPartsRecord, body);
    const parts = await send({ ...upload, multipart: { ...upload.multipart, ...body } });
    expect(codeOf(await complete(upload, parts))).toBe('200');
    expect(codeOf(await at(upload, 'parts'))).toBe('409 upload_not_resumable');
  });

  it('returns 410 with expires_at after it expired, and for re-signing from 2 seconds before', async () => {
    const upload = await begin();
    const parts = await send(upload);
    const left = (interval: string) =>
      api.db.query(
        `update uploads set expires_at = now() + interval '${interval}' where upload_id = $1`,
        [upload.upload_id],
      );
    await left('1900 milliseconds');
    const { expires_at } = await read(upload);
    const late = await at(upload, 'parts');
    expect(codeOf(late)).toBe('410 upload_expired');
    expect(late.body.error.details).toEqual({ expires_at });
    await left('0 seconds');
    const gone = await complete(upload, parts);
    expect(codeOf(gone)).toBe('410 upload_expired');
    expect(gone.body.error.details).toHaveProperty('expires_at');
    // The list of a session that is over is not read.
    expect(codeOf(await complete(upload, []))).toBe('410 upload_expired');
    expect(codeOf(await at(upload, 'parts'))).toBe('410 upload_expired');
  });

  it('signs part URLs for no longer than the session lives', async () => {
    const upload = await begin();
    await api.db.query(
      `update uploads set expires_at = now() + interval '60 seconds' where upload_id = $1`,
      [upload.upload_id],
    );
    const { body } = await at(upload, 'parts');
    expect(Date.parse(body.urls_expire_at) - Date.now()).toBeLessThanOrEqual(61_000);
  });

  it('leaves no part, object or reservation once aborted, and can be aborted again', async () => {
    const upload = await begin();
    await send(upload);
    const key = await keyOf(upload);
    const reserved = () => reservedBytes(project);
    const before = await reserved();
    const { status, body } = await at(upload, 'abort');
    expect(status).toBe(200);
    expectRecord(uploadRecord, body);
    expect(body).toMatchObject({ status: 'expired', error_code: 'session_expired' });
    expect(await ingest().listMultiparts({ prefix: key, limit: 10 })).toEqual([]);
    expect(await ingest().head(key)).toBeUndefined();
    expect(before - (await reserved())).toBe(bytes.length);
    expect(codeOf(await at(upload, 'abort'))).toBe('200');
    const late = await complete(upload, []);
    expect(codeOf(late)).toBe('410 upload_expired');
    expect(late.body.error).toMatchObject({ message: expect.stringContaining('aborted') });
    expect(late.body.error.details).toEqual({ expires_at: body.updated_at });
    expect(codeOf(await at(upload, 'parts'))).toBe('410 upload_expired');
  });

  it('returns 409 upload_not_pending for an abort once its bytes were accepted', async () => {
    const upload = await begin();
    expect(codeOf(await complete(upload, await send(upload)))).toBe('200');
    expect(codeOf(await at(upload, 'abort'))).toBe('409 upload_not_pending');
  });

  it('is either completed or aborted by concurrent requests, never both', async () => {
    const upload = await begin();
    const parts = await send(upload);
    const [completed, aborted] = await Promise.all([complete(upload, parts), at(upload, 'abort')]);
    const codes = [codeOf(completed), codeOf(aborted)];
    expect(
      codes.filter((code) => code === '200'),
      codes.join(),
    ).toHaveLength(1);
    expect((await read(upload)).status).toBe(codes[0] === '200' ? 'uploaded' : 'expired');
  });
});

describe('creating a multipart upload', () => {
  it('returns 400 invalid_part_size if any part but the last would be below 5 MiB', async () => {
    api.change({ settings: { ingestMaxBytes: 100 * MIB } });
    const input = { content_type: 'image/png', parts: 3 };
    for (const size_bytes of [15 * MIB, 10 * MIB + 1])
      expect((await call('POST', path, { ...input, size_bytes })).status).toBe(201);
    for (const less of [10 * MIB, 100, 1]) {
      const answer = await call('POST', path, { ...input, size_bytes: less });
      expect(codeOf(answer)).toBe('400 invalid_part_size');
    }
  });

  it('leaves nothing in storage if it exceeds the storage limit', async () => {
    api.change({
      settings: { ingestMaxBytes: 100 * MIB },
      plans: { trial: { credits: 1, granted: 'once', storage_bytes: 100 } },
    });
    const input = { content_type: 'image/png', size_bytes: 10 * MIB, parts: 2 };
    const small = await createProject(owner);
    const answer = await owner('POST', `/v1/projects/${small.project_slug}/uploads`, input);
    expect(codeOf(answer)).toBe('403 storage_quota_exceeded');
    const prefix = `${small.project_id}/`;
    const { ingest } = api.deps().buckets;
    await until(async () => expect(await ingest.listMultiparts({ prefix, limit: 5 })).toEqual([]));
  });
});

describe('a single-part upload', () => {
  it('returns 400 not_multipart when re-signed, and can be aborted', async () => {
    const { body } = await call('POST', path, { content_type: 'image/png', size_bytes: 10 });
    expect(codeOf(await call('POST', `${path}/${body.upload_id}/parts`))).toBe('400 not_multipart');
    const aborted = await call('POST', `${path}/${body.upload_id}/abort`);
    expect(aborted.body.status).toBe('expired');
  });

  it('returns 404 upload_not_found under another project’s path', async () => {
    const other = await createProject(owner);
    const there = `/v1/projects/${other.project_slug}/uploads`;
    const { body } = await owner('POST', there, { content_type: 'image/png', size_bytes: 10 });
    for (const what of ['abort', 'parts', 'complete']) {
      const answer = await call('POST', `${path}/${body.upload_id}/${what}`);
      expect(codeOf(answer)).toBe('404 upload_not_found');
    }
  });
});

describe('an upload of a suspended project', () => {
  it('cannot be completed or re-signed by its owner, but can be aborted', async () => {
    const mine = await createProject(owner);
    const there = `/v1/projects/${mine.project_slug}`;
    const input = { content_type: 'image/png', size_bytes: 10 };
    const { body } = await owner('POST', `${there}/uploads`, input);
    await owner('PATCH', there, { status: 'suspended' });
    for (const what of ['complete', 'parts']) {
      const answer = await owner('POST', `${there}/uploads/${body.upload_id}/${what}`);
      expect(codeOf(answer)).toBe('403 project_suspended');
    }
    expect(codeOf(await owner('POST', `${there}/uploads/${body.upload_id}/abort`))).toBe('200');
  });
});

async function send({ multipart }: UploadRecord, numbers = [2, 1]): Promise<Part[]> {
  const { part_size = 0, parts = [] } = multipart ?? {};
  const sent: Part[] = [];
  for (const part_number of numbers) {
    const url = parts.find((part) => part.part_number === part_number)?.url ?? '';
    const body = bytes.subarray((part_number - 1) * part_size, part_number * part_size);
    const answer = await putPart(url, body);
    expect(answer.status).toBe(200);
    sent.push({ part_number, etag: answer.headers.get('etag') ?? '' });
  }
  return sent.toSorted((left, right) => left.part_number - right.part_number);
}

async function putPart(url: string, body: Buffer): Promise<Response> {
  const answer = await fetch(url, { method: 'PUT', body: new Uint8Array(body) });
  const { pathname, search } = new URL(url);
  noteSeen({ method: 'PUT', path: pathname + search, status: answer.status, code: null });
  return answer;
}

async function reservedBytes({ project_id }: ProjectRecord): Promise<number> {
  const query = 'select reserved_bytes from projects where project_id = $1';
  const [row] = await api.db.query<{ reserved_bytes: number }>(query, [project_id]);
  return row?.reserved_bytes ?? 0;
}
