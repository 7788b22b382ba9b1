// Idempotency-Key, an addition to Spec: Conventions; Codes by status (ours: idempotency_key_reused, …_in_progress).
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../runtime/core/resources/project.ts';
import { uploadRecord } from '../../../runtime/core/resources/upload.ts';
import type { Database } from '../../../runtime/db/client.ts';
import { createSealing } from '../../../runtime/platform/sealing.ts';
import type { Bucket } from '../../../runtime/platform/storage/bucket.ts';
import {
  type Answer,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
  signatureOf,
} from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';
import { waitPatiently } from '../../support/patient-database.ts';
import { withoutStoring } from '../../support/without-storing.ts';

type Post = { path: string; body?: unknown; key: string };

const MIB = 2 ** 20;
const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
const bytes = Buffer.from('some bytes');
const input = { content_type: 'image/png', size_bytes: bytes.length };
let project: ProjectRecord;
let uploads: string;
let secret: string;

beforeAll(async () => {
  project = await createProject(owner);
  uploads = `/v1/projects/${project.project_slug}/uploads`;
  secret = await createKey(owner, project.project_slug);
});

const post = (sent: Post, apiKey = secret): Promise<Answer> =>
  api.send({
    method: 'POST',
    path: sent.path,
    body: sent.body,
    headers: { 'x-api-key': apiKey, 'idempotency-key': sent.key },
  });

async function postByOwner({ path, body, key }: Post): Promise<Answer> {
  const raw = JSON.stringify(body ?? {});
  const headers = { ...(await api.sessionHeaders(subject)), ...signatureOf('POST', path, raw) };
  return api.send({ method: 'POST', path, raw, headers: { ...headers, 'idempotency-key': key } });
}

async function countUploads(slug = project.project_slug): Promise<number> {
  const [row] = await api.db.query<{ count: number }>(
    'select count(*)::int as count from uploads join projects using (project_id) where project_slug = $1',
    [slug],
  );
  return row?.count ?? -1;
}

const stored = (key: string) =>
  api.db.query<{ caller: string; sealed_answer: Buffer | null; status: number | null }>(
    'select * from idempotency_keys where idempotency_key = $1',
    [key],
  );

describe('a POST to a slug that cannot belong to a project', () => {
  it.each([
    ['a slug that is too long', 'y'.repeat(64)],
    ['a slug that is far too long', 'y'.repeat(2000)],
    ['a NUL', '%00'],
    ['a slug with forbidden characters', 'A_b'],
  ])('returns 404 not_found and stores no idempotency key: %s', async (_what, slug) => {
    const key = randomUUID();
    for (const operation of ['uploads', 'signed-url', 'files/move']) {
      const path = `/v1/projects/${slug}/${operation}`;
      const answer = await post({ path, body: input, key });
      expect(codeOf(answer)).toBe('404 not_found');
    }
    expect(await stored(key)).toEqual([]);
  });
});

describe('a POST repeated with the same Idempotency-Key', () => {
  it('creates one upload and returns the same response, upload URL included, whatever the field order', async () => {
    const [before, key] = [await countUploads(), randomUUID()];
    const first = await post({ path: uploads, body: input, key });
    expect(first.status).toBe(201);
    expectRecord(uploadRecord, first.body);
    const { content_type, size_bytes } = input;
    const again = await post({ path: uploads, body: { size_bytes, content_type }, key });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(await countUploads()).toBe(before + 1);
  });

  it('creates one project and one API key, whose secret is returned again but stored only encrypted', async () => {
    const body = { project_slug: `p-${randomBytes(6).toString('hex')}` };
    const made = { path: '/v1/projects', body, key: randomUUID() };
    const first = await postByOwner(made);
    expect(first.status).toBe(201);
    expect((await postByOwner(made)).body).toEqual(first.body);
    expect(codeOf(await postByOwner({ ...made, key: randomUUID() }))).toBe('409 project_exists');
    const keyed = {
      path: `/v1/projects/${body.project_slug}/keys`,
      body: { name: 'one' },
      key: randomUUID(),
    };
    const apiKey = await postByOwner(keyed);
    expect((await postByOwner(keyed)).body).toEqual(apiKey.body);
    const [row] = await stored(keyed.key);
    expect(row?.sealed_answer?.includes(apiKey.body.plaintext_secret)).toBe(false);
    expect(row?.sealed_answer?.includes('plaintext_secret')).toBe(false);
  });

  it.each([
    ['is not configured', 'k9'],
    ['is another one under the same id', 'k1'],
  ])(
    'returns 503, without another effect, while the key of the stored response %s',
    async (_, kek) => {
      const before = await countUploads();
      const made = { path: uploads, body: input, key: randomUUID() };
      const first = await post(made);
      const { sealing } = api.deps();
      api.change({ sealing: createSealing([{ id: kek, key: Buffer.alloc(32, 9) }]) });
      expect(codeOf(await post(made))).toBe('503 storage_unavailable');
      api.change({ sealing });
      expect((await post(made)).body).toEqual(first.body);
      expect(await countUploads()).toBe(before + 1);
    },
  );

  it('completes an upload once and returns the first response even after the upload has changed', async () => {
    const { body } = await post({ path: uploads, body: input, key: randomUUID() });
    const complete = { path: `${uploads}/${body.upload_id}/complete`, key: randomUUID() };
    expect(codeOf(await post(complete))).toBe('409 ingest_object_missing');
    const headers = { 'content-type': 'image/png' };
    await fetch(body.direct.put_url, { method: 'PUT', body: bytes, headers });
    const first = await post(complete);
    expect([first.status, first.body.status]).toEqual([200, 'uploaded']);
    await api.db.query(`update uploads set updated_at = now() where upload_id = $1`, [
      body.upload_id,
    ]);
    expect((await post(complete)).body).toEqual(first.body);
  });

  it('is rejected with 400 idempotency_key_reused, without effect, if its body or path differs', async () => {
    const key = randomUUID();
    const { body } = await post({ path: uploads, body: input, key });
    const before = await countUploads();
    const others = [
      { path: uploads, body: { ...input, size_bytes: 11 }, key },
      { path: `${uploads}/${body.upload_id}/abort`, key },
    ];
    for (const other of others) {
      expect(codeOf(await post(other))).toBe('400 idempotency_key_reused');
    }
    expect(await countUploads()).toBe(before);
  });

  it('counts as a new request from another caller or in another project', async () => {
    const key = randomUUID();
    const other = await createProject(owner);
    const there = `/v1/projects/${other.project_slug}/uploads`;
    const answers = [
      await post({ path: uploads, body: input, key }),
      await post({ path: uploads, body: input, key }, await createKey(owner, project.project_slug)),
      await postByOwner({ path: uploads, body: input, key }),
      await postByOwner({ path: there, body: input, key }),
    ];
    expect(answers.map(codeOf)).toEqual(Array(4).fill('201'));
    expect(new Set(answers.map(({ body }) => body.upload_id)).size).toBe(4);
  });

  it('counts as a new request after 24 hours', async () => {
    const made = { path: uploads, body: input, key: randomUUID() };
    const first = await post(made);
    await api.db.query(
      `update idempotency_keys set created_at = now() - interval '24 hours' where idempotency_key = $1`,
      [made.key],
    );
    const later = await post(made);
    expect(later.status).toBe(201);
    expect(later.body.upload_id).not.toBe(first.body.upload_id);
  });

  it('has one effect if 20 arrive concurrently; the others get its response or 409 with Retry-After', async () => {
    waitPatiently(api);
    const before = await countUploads();
    const made = { path: uploads, body: input, key: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(made)));
    expect(await countUploads()).toBe(before + 1);
    const ids = answers.filter(({ status }) => status === 201).map(({ body }) => body.upload_id);
    expect(new Set(ids).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(codeOf(answer)).toBe('409 idempotency_in_progress');
      expect(answer.headers['retry-after']).toBe('1');
    }
  });
});

describe('an Idempotency-Key', () => {
  it('can be used again after a rejected request, which stores nothing', async () => {
    const key = randomUUID();
    const refused = await post({ path: uploads, body: { ...input, size_bytes: 0 }, key });
    expect(codeOf(refused)).toBe('400 invalid_request');
    expect(await stored(key)).toEqual([]);
    expect((await post({ path: uploads, body: input, key })).status).toBe(201);
  });

  it('has no effect if storing the response fails, so that a retry starts over', async () => {
    const before = await countUploads();
    const made = { path: uploads, body: input, key: randomUUID() };
    api.change({ db: withoutStoring(api.db) });
    expect((await post(made)).status).toBe(500);
    expect(await countUploads()).toBe(before);
    expect((await post(made)).status).toBe(500);
    api.change({});
    expect((await post(made)).status).toBe(201);
    expect(await countUploads()).toBe(before + 1);
  });

  it('lets a multipart upload begin in storage only once, before any transaction is open', async () => {
    let open = 0;
    const openThen: number[] = [];
    const transaction: Database['transaction'] = (work, options) => {
      open += 1;
      return api.db.transaction(work, options).finally(() => {
        open -= 1;
      });
    };
    const { buckets } = api.deps();
    const createMultipart: Bucket['createMultipart'] = (storageKey, settings) => {
      openThen.push(open);
      return buckets.ingest.createMultipart(storageKey, settings);
    };
    api.change({
      db: { ...api.db, transaction },
      buckets: { ...buckets, ingest: { ...buckets.ingest, createMultipart } },
      settings: { ingestMaxBytes: 10 * MIB },
    });
    const parts = { ...input, size_bytes: 10 * MIB, parts: 2 };
    const made = { path: uploads, body: parts, key: randomUUID() };
    const first = await post(made);
    expect([first.status, first.body.multipart.parts.length]).toEqual([201, 2]);
    expect((await post(made)).body).toEqual(first.body);
    expect(openThen).toEqual([0]);
  });

  it('lets a multipart upload over the storage limit be rejected without waiting for its abort', async () => {
    const { buckets } = api.deps();
    const hanging = Promise.withResolvers<void>();
    const aborted: string[] = [];
    const abortMultipart: Bucket['abortMultipart'] = (_storageKey, upload_id) => {
      aborted.push(upload_id);
      return hanging.promise;
    };
    api.change({
      buckets: { ...buckets, ingest: { ...buckets.ingest, abortMultipart } },
      settings: { ingestMaxBytes: 10 * MIB },
      plans: { trial: { credits: 1, granted: 'once', storage_bytes: 1 } },
    });
    const parts = { ...input, size_bytes: 10 * MIB, parts: 2 };
    const refused = post({ path: uploads, body: parts, key: randomUUID() });
    const code = await Promise.race([refused.then(codeOf), sleep(5_000, 'waits', { ref: false })]);
    hanging.resolve();
    await refused;
    expect([code, aborted.length]).toEqual(['403 storage_quota_exceeded', 1]);
  });

  it('of a killed process is free only once its lease has expired, then even for another body', async () => {
    const made = { path: uploads, body: input, key: randomUUID() };
    const first = await post(made);
    const set = (lease: string) =>
      api.db.query(
        `update idempotency_keys set status = null, sealed_answer = null, lease_until = now() + interval '${lease}'
         where idempotency_key = $1`,
        [made.key],
      );
    await set('30 seconds');
    expect(codeOf(await post(made))).toBe('409 idempotency_in_progress');
    await set('0 seconds');
    const { status, body } = await post(made);
    expect(status).toBe(201);
    expect(body.upload_id).not.toBe(first.body.upload_id);
    await set('0 seconds');
    const other = { ...made, body: { ...input, size_bytes: 1 } };
    expect((await post(other)).body).toMatchObject({ size_bytes: 1 });
    expect(codeOf(await post(made))).toBe('400 idempotency_key_reused');
  });

  it('stays with the process that took over the claim; the previous one commits nothing', async () => {
    const before = await countUploads();
    const made = { path: uploads, body: input, key: randomUUID() };
    const taken: Database = {
      ...api.db,
      transaction: async (work, options) => {
        const query = `update idempotency_keys set claim_id = 'another' where idempotency_key = $1`;
        await api.db.query(query, [made.key]);
        return api.db.transaction(work, options);
      },
    };
    api.change({ db: taken });
    expect(codeOf(await post(made))).toBe('409 idempotency_in_progress');
    expect(await countUploads()).toBe(before);
    expect(await stored(made.key)).toMatchObject([{ claim_id: 'another', status: null }]);
  });

  it('is rejected with 400 if malformed, and ignored on a GET', async () => {
    for (const key of ['', 'ö', 'two words', 'k'.repeat(256)]) {
      const answer = await post({ path: uploads, body: input, key });
      expect(codeOf(answer), key).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual(['Idempotency-Key']);
    }
    const headers = { 'x-api-key': secret, 'idempotency-key': 'two words' };
    expect((await api.send({ path: uploads, headers })).status).toBe(200);
  });
});
