// Spec: Uploads (POST, GET); Upload session.
import { beforeAll, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../runtime/core/errors.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { uploadRecord } from '../../../../runtime/core/resources/upload.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { INGEST_BYTES_MAX, STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';

const api = useApi();
const owner = api.session(newSubject());
const TAKEN = ['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff', 'bmp', 'svg+xml'].map(
  (name) => `image/${name}`,
);
const valid = { content_type: 'image/png', size_bytes: 100 };
let project: ProjectRecord;
let call: Caller;

beforeAll(async () => {
  project = await createProject(owner);
  call = api.withKey(await createKey(owner, project.project_slug, ['files:write', 'files:read']));
});

const create = (body: unknown, of = project, caller = call) =>
  caller('POST', `/v1/projects/${of.project_slug}/uploads`, body);

describe('POST …/uploads', () => {
  it('makes a session of 15 minutes with exactly one way to send the bytes', async () => {
    const { status, body } = await create(valid);
    expect(status).toBe(201);
    expectRecord(uploadRecord, body);
    const { upload_id } = body;
    expect(upload_id).toMatch(/^upl_[0-9a-z]{26}$/);
    expect(body).toMatchObject({
      ...valid,
      project_slug: project.project_slug,
      file_slug: upload_id,
      status: 'created',
      mode: 'direct',
      error_code: null,
      ready_at: null,
      sha256: null,
      library: 'default',
      folder: '',
    });
    expect(
      Object.keys(body).filter((key) => ['direct', 'multipart', 'proxy'].includes(key)),
    ).toEqual(['direct']);
    expect(body.direct.headers).toEqual({ 'content-type': 'image/png', 'content-length': '100' });
    const seconds = (Date.parse(body.expires_at) - Date.parse(body.created_at)) / 1000;
    expect(seconds).toBe(900);
  });

  it('returns a URL that accepts only the declared type and length', async () => {
    const { body } = await create(valid);
    const put = (bytes: number, type: string) =>
      fetch(body.direct.put_url, {
        method: 'PUT',
        body: Buffer.alloc(bytes),
        headers: { 'content-type': type },
      });
    expect((await put(99, 'image/png')).status).toBe(403);
    expect((await put(100, 'image/jpeg')).status).toBe(403);
    const stored = await put(100, 'image/png');
    expect([stored.status, stored.headers.get('etag')]).toEqual([200, expect.any(String)]);
  });

  it('lowercases the requested type, slug and digest', async () => {
    const asked = { content_type: 'IMAGE/png', file_slug: 'Photo_1.JPG', sha256: 'AB'.repeat(32) };
    const { body } = await create({ ...valid, ...asked });
    const kept = { content_type: 'image/png', file_slug: 'photo_1.jpg', sha256: 'ab'.repeat(32) };
    expect(body).toMatchObject(kept);
    expect(body.direct.headers['content-type']).toBe('image/png');
  });

  it('accepts the types that it can sanitize, and rejects any other with the list of them', async () => {
    for (const content_type of TAKEN) {
      expect((await create({ ...valid, content_type })).status).toBe(201);
    }
    for (const content_type of ['image/heic', 'image/svg', 'image/png;q=1', 'text/html', '']) {
      const answer = await create({ ...valid, content_type });
      expect(codeOf(answer), content_type).toBe('400 unsupported_content_type');
      expect(answer.body.error.details).toEqual({ accepted: TAKEN });
    }
  });

  it('rejects AVIF if it is disabled', async () => {
    api.change({ settings: { avifUploads: 'disabled' } });
    const answer = await create({ ...valid, content_type: 'image/avif' });
    expect(codeOf(answer)).toBe('400 unsupported_content_type');
    const accepted = TAKEN.filter((type) => type !== 'image/avif');
    expect(answer.body.error.details).toEqual({ accepted });
  });

  it('rejects SVG if it is disabled', async () => {
    api.change({ settings: { svgUploads: 'disabled' } });
    const answer = await create({ ...valid, content_type: 'image/svg+xml' });
    expect(codeOf(answer)).toBe('400 unsupported_content_type');
    const accepted = TAKEN.filter((type) => type !== 'image/svg+xml');
    expect(answer.body.error.details).toEqual({ accepted });
  });

  it('accepts an SVG of 2,000,000 bytes, and returns 413 file_too_large with max_bytes above that', async () => {
    const svg = { ...valid, content_type: 'image/svg+xml' };
    expect((await create({ ...svg, size_bytes: 2_000_000 })).status).toBe(201);
    const answer = await create({ ...svg, size_bytes: 2_000_001 });
    expect(codeOf(answer)).toBe('413 file_too_large');
    expect(answer.body.error.details).toEqual({ max_bytes: 2_000_000 });
  });

  it('limits an SVG to the deployment’s limit if that is below 2,000,000 bytes', async () => {
    api.change({ settings: { ingestMaxBytes: 1000 } });
    const answer = await create({ ...valid, content_type: 'image/svg+xml', size_bytes: 1001 });
    expect(codeOf(answer)).toBe('413 file_too_large');
    expect(answer.body.error.details).toEqual({ max_bytes: 1000 });
  });

  it('accepts sizes up to the deployment’s limit, and returns 413 file_too_large with max_bytes above it', async () => {
    expect((await create({ ...valid, size_bytes: INGEST_BYTES_MAX })).status).toBe(201);
    const answer = await create({ ...valid, size_bytes: INGEST_BYTES_MAX + 1 });
    expect(codeOf(answer)).toBe('413 file_too_large');
    expect(answer.body.error.details).toEqual({ max_bytes: INGEST_BYTES_MAX });
  });

  it('names the wrong field of an invalid body', async () => {
    const wrong: [object, string][] = [
      [{ size_bytes: 1 }, 'content_type'],
      [{ content_type: 'image/png' }, 'size_bytes'],
      [{ ...valid, size_bytes: 0 }, 'size_bytes'],
      [{ ...valid, size_bytes: 1.5 }, 'size_bytes'],
      [{ ...valid, size_bytes: '100' }, 'size_bytes'],
      [{ ...valid, size_bytes: 2 ** 53 }, 'size_bytes'],
      [{ ...valid, file_slug: '.hidden' }, 'file_slug'],
      [{ ...valid, file_slug: 'x'.repeat(129) }, 'file_slug'],
      [{ ...valid, file_slug: 'a/b' }, 'file_slug'],
      [{ ...valid, sha256: 'ab' }, 'sha256'],
      [{ ...valid, mode: 'stream' }, 'mode'],
      [{ ...valid, mode: 'proxy', parts: 2 }, 'parts'],
      [{ ...valid, parts: 10_001 }, 'parts'],
      [{ ...valid, parts: 0 }, 'parts'],
      [{ ...valid, title: 'x' }, 'title'],
    ];
    for (const [body, field] of wrong) {
      const answer = await create(body);
      expect(codeOf(answer), JSON.stringify(body)).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual([field]);
    }
  });

  it('normalizes the folder, and rejects an invalid one', async () => {
    const { body } = await create({ ...valid, folder: ' /a//b/ ' });
    expect(body.folder).toBe('a/b');
    for (const folder of [
      'a/../b',
      './a',
      'a\u0000b',
      'a\ud800b',
      'x'.repeat(256),
      'a/'.repeat(11),
    ]) {
      expect(codeOf(await create({ ...valid, folder })), folder).toBe('400 invalid_folder');
    }
  });

  it('returns 409 media_library_disabled for a library or folder while library writes are off', async () => {
    api.change({ settings: { mediaLibraryWrites: 'disabled' } });
    for (const place of [{ folder: 'a' }, { library: 'default' }, { library: 'press' }]) {
      const answer = await create({ ...valid, ...place });
      expect(codeOf(answer)).toBe('409 media_library_disabled');
    }
    expect((await create(valid)).status).toBe(201);
  });

  it('accepts the default library, and returns 404 library_not_found for an unknown one', async () => {
    expect((await create({ ...valid, library: 'default' })).status).toBe(201);
    expect((await create({ ...valid, parts: 1, folder: '' })).status).toBe(201);
    const answer = await create({ ...valid, library: 'press' });
    expect(codeOf(answer)).toBe('404 library_not_found');
  });
});

describe('the storage limit', () => {
  it('counts declared sizes, and is never exceeded by 100 concurrent requests', async () => {
    const small = await createProject(owner);
    const path = `/v1/projects/${small.project_slug}`;
    await api.session(STAFF_SUBJECT)('PATCH', path, { storage_hard_limit_bytes: 1000 });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => create(valid, small, owner)),
    );
    expect(answers.map(codeOf).toSorted()).toEqual([
      ...Array(10).fill('201'),
      ...Array(90).fill('403 storage_quota_exceeded'),
    ]);
    expect(codeOf(await create({ ...valid, size_bytes: 1 }, small, owner))).toBe(
      '403 storage_quota_exceeded',
    );
    const [row] = await api.db.query<{ reserved_bytes: number }>(
      'select reserved_bytes from projects where project_id = $1',
      [small.project_id],
    );
    expect(row?.reserved_bytes).toBe(1000);
  });

  it('reserves nothing for an upload whose URL cannot be signed', async () => {
    const small = await createProject(owner);
    const { buckets } = api.deps();
    const presignPut = () => Promise.reject(new ServiceError('storage_unavailable'));
    api.change({ buckets: { ...buckets, ingest: { ...buckets.ingest, presignPut } } });
    expect(codeOf(await create(valid, small, owner))).toBe('503 storage_unavailable');
    const uploads = await owner('GET', `/v1/projects/${small.project_slug}/uploads`);
    expect(uploads.body.items).toEqual([]);
    api.change({ plans: { trial: { credits: 1, granted: 'once', storage_bytes: 100 } } });
    expect(codeOf(await create(valid, small, owner))).toBe('201');
  });

  it('is that of the plan unless staff set one', async () => {
    const small = await createProject(owner);
    api.change({ plans: { trial: { credits: 1, granted: 'once', storage_bytes: 150 } } });
    expect((await create(valid, small, owner)).status).toBe(201);
    expect(codeOf(await create(valid, small, owner))).toBe('403 storage_quota_exceeded');
  });
});

describe('GET …/uploads/{id}', () => {
  it('returns the session without the way to send bytes', async () => {
    const { direct: _direct, ...session } = (await create(valid)).body;
    const { status, body } = await call(
      'GET',
      `/v1/projects/${project.project_slug}/uploads/${session.upload_id}`,
    );
    expect(status).toBe(200);
    expectRecord(uploadRecord, body);
    expect(body).toEqual(session);
  });

  it('returns the same 404 upload_not_found for another project’s upload as for a nonexistent one', async () => {
    const other = await createProject(owner);
    const { upload_id } = (await create(valid, other, owner)).body;
    const path = `/v1/projects/${project.project_slug}/uploads`;
    const foreign = await call('GET', `${path}/${upload_id}`);
    const missing = await call('GET', `${path}/upl_${'0'.repeat(26)}`);
    expect(codeOf(foreign)).toBe('404 upload_not_found');
    expect(foreign.text).toBe(missing.text);
    expect(codeOf(await call('GET', `${path}/UPL_x`))).toBe('404 upload_not_found');
    expect(codeOf(await call('POST', `${path}/${upload_id}/complete`))).toBe(
      '404 upload_not_found',
    );
  });
});
