// Requests that the API and delivery hosts reject as specified, with status, code and envelope. One Tintype with two
// tenants; every row is a request that a client could send.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { over, photograph, pngBomb } from '../support/pictures.ts';
import {
  type Answer,
  anonymous,
  type Caller,
  call,
  deliver,
  put,
  withKey,
  withSession,
  withStaffSession,
} from './support/client.ts';
import { removeFolder, runTintype, startTintype, type Tintype } from './support/tintype.ts';
import { sendUpload, upload } from './support/upload.ts';

const TRIAL_CREDITS = 1000;
const KEYS_MAX = 100;
const MINTS_PER_MINUTE_MAX = 60;
const INGEST_BYTES_MAX = 250_000_000;
const BODY_BYTES_MAX = 262_144;

let tintype: Tintype;
let alice: Caller;
let bob: Caller;
let staff: Caller;
let key: Caller;
let picture: Buffer;

async function newKey(project: string, scopes?: string[]): Promise<Caller> {
  const body = { name: 'test', ...(scopes && { scopes }) };
  const made = await alice('POST', `/v1/projects/${project}/keys`, body);
  return withKey(tintype, made.body.plaintext_secret);
}

async function newProject(slug: string, settings: object = {}): Promise<Caller> {
  const made = await alice('POST', '/v1/projects', { project_slug: slug, ...settings });
  expect(made.status).toBe(201);
  return newKey(slug);
}

const jpeg = (more: object = {}) => ({ content_type: 'image/jpeg', size_bytes: 1000, ...more });
const asUpload = (more: object = {}) => ({ bytes: picture, content_type: 'image/jpeg', ...more });

function expectRefusal(answer: Answer, status: number, code: string): void {
  const { body, headers } = answer;
  expect([answer.status, body?.error?.code]).toEqual([status, code]);
  expect(Object.keys(body)).toEqual(['error']);
  expect(body.error.message).toEqual(expect.stringMatching(/\S/));
  expect(headers['x-request-id']).toEqual(expect.any(String));
  expect(headers['cache-control']).toBe('no-store');
}

beforeAll(async () => {
  tintype = await startTintype();
  picture = await over(photograph(64, 48)).jpeg().toBuffer();
  [alice, bob, staff] = await Promise.all([
    withSession(tintype, 'alice'),
    withSession(tintype, 'bob'),
    withStaffSession(tintype),
  ]);
  key = await newProject('shop', { resolution_presets: { thumb: 'resize/10x10' } });
  await upload(key, 'shop', asUpload({ file_slug: 'photo.jpg' }));
});

afterAll(async () => {
  await tintype?.end('SIGTERM');
  await removeFolder(tintype.data);
});

describe('rejected requests', { shuffle: false }, () => {
  describe('authentication and authorization', () => {
    it.each([
      ['nobody', 'GET', '/v1/me', 401, 'unauthorized'],
      ['nobody', 'GET', '/v1/projects/shop/files', 401, 'unauthorized'],
      ['nobody', 'POST', '/v1/projects', 401, 'unauthorized'],
      ['a mistyped key', 'GET', '/v1/key', 401, 'unauthorized'],
      ['an unknown key', 'GET', '/v1/key', 401, 'unauthorized'],
      ['a key', 'GET', '/v1/me', 403, 'browser_session_required'],
      ['a key', 'PATCH', '/v1/projects/shop', 403, 'browser_session_required'],
      ['a key', 'GET', '/v1/projects/demo', 404, 'not_found'],
      ['a session', 'GET', '/v1/key', 403, 'api_key_required'],
      ['a stranger', 'GET', '/v1/projects/shop', 404, 'not_found'],
      ['a stranger', 'PATCH', '/v1/projects/shop', 404, 'not_found'],
      ['a narrow key', 'GET', '/v1/projects/shop/files', 403, 'forbidden'],
      ['a narrow key', 'POST', '/v1/projects/shop/uploads', 403, 'forbidden'],
      ['a key', 'GET', '/v1/nothing', 404, 'not_found'],
      ['a key', 'PUT', '/v1/projects', 404, 'not_found'],
    ])('%s: %s %s answers %i %s', async (who, method, path, status, code) => {
      const callers: Record<string, Caller> = {
        nobody: anonymous(tintype),
        'a mistyped key': withKey(tintype, 'tin_live_mistyped'),
        'an unknown key': withKey(tintype, `tin_live_${'0'.repeat(36)}`),
        'a key': key,
        'a session': alice,
        'a stranger': bob,
        'a narrow key': await narrow(),
      };
      const body = method === 'PATCH' ? { name: 'Mine' } : method === 'POST' ? {} : undefined;
      const answer = await callers[who]?.(method, path, body);
      expectRefusal(answer as Answer, status, code);
    });

    let narrowKey: Promise<Caller> | undefined;
    const narrow = () => {
      narrowKey ??= newKey('shop', ['urls:sign']);
      return narrowKey;
    };

    it('a session needs its own user id and, for writes, a valid request signature', async () => {
      const args = ['token', '--json', '--data', tintype.data, '--sub', 'alice'];
      const { headers } = JSON.parse((await runTintype(args)).stdout);
      for (const user of [undefined, 'bob']) {
        const sent = { ...headers, 'x-identity-user-id': user };
        if (user === undefined) delete sent['x-identity-user-id'];
        const answer = await call(tintype, { method: 'GET', path: '/v1/me', headers: sent });
        expectRefusal(answer, 401, 'unauthorized');
      }
      const unsigned = {
        method: 'POST',
        path: '/v1/projects',
        body: { project_slug: 'x' },
        headers,
      };
      expectRefusal(await call(tintype, unsigned), 401, 'invalid_request_signature');
      const wrong = {
        ...unsigned,
        headers: { ...headers, 'x-request-signature': '00'.repeat(32) },
      };
      expectRefusal(await call(tintype, wrong), 401, 'invalid_request_signature');
    });

    it('X-Api-Key takes precedence over a key in Authorization', async () => {
      const { api_key } = tintype.instance;
      const headers = { 'x-api-key': api_key, authorization: 'Bearer tin_live_other' };
      const answer = await call(tintype, { method: 'GET', path: '/v1/key', headers });
      expect([answer.status, answer.body.project_slug]).toEqual([200, 'demo']);
      const bearer = { authorization: `Bearer ${api_key}` };
      const other = await call(tintype, { method: 'GET', path: '/v1/key', headers: bearer });
      expect(other.status).toBe(200);
    });
  });

  describe('invalid input', () => {
    const project = '/v1/projects/shop';

    it.each([
      ['POST', '/v1/projects', { project_slug: 'www' }, 'project_slug'],
      ['POST', '/v1/projects', { project_slug: 'Not A Label' }, 'project_slug'],
      ['POST', '/v1/projects', { project_slug: 'fine', color: 'red' }, 'color'],
      ['PATCH', project, { custom_domains: ['img.shop.example'] }, 'custom_domains'],
      ['PATCH', project, { nudity_auto_block: true }, 'nudity_auto_block'],
      ['PATCH', project, { resolution_presets: { a: 'rotate/90' } }, 'resolution_presets.a'],
      ['PATCH', project, { default_watermark_preset_id: 'wm_x' }, 'default_watermark_preset_id'],
      ['PATCH', project, { callback_url: 'http://shop.example/hook' }, 'callback_url'],
      ['PATCH', project, { rotate_callback_secret: true }, 'rotate_callback_secret'],
      ['POST', `${project}/keys`, {}, 'name'],
      ['POST', `${project}/keys`, { name: 'none', scopes: [] }, 'scopes'],
      ['POST', `${project}/uploads`, jpeg({ size_bytes: 0 }), 'size_bytes'],
      ['POST', `${project}/uploads`, jpeg({ file_slug: '../etc' }), 'file_slug'],
      [
        'POST',
        `${project}/signed-url`,
        { file_slug: 'a', expires_in_seconds: 59 },
        'expires_in_seconds',
      ],
      ['GET', `${project}/files?limit=101`, undefined, 'limit'],
      ['GET', `${project}/usage?from=2026-02-01&to=2026-01-01`, undefined, 'from'],
    ])('%s %s with %j answers invalid_request and names %s', async (method, path, body, field) => {
      const answer = await alice(method, path, body);
      expectRefusal(answer, 400, 'invalid_request');
      const issues: { path: string; message: string }[] = answer.body.error.details.issues;
      // The message for an unknown field names it, at the path of the whole body.
      const isNamed = issues.some(
        ({ path: at, message }) => at === field || (at === '' && message.includes(field)),
      );
      expect([isNamed, issues]).toEqual([true, issues]);
    });

    it('a malformed JSON body returns 400 invalid_json', async () => {
      const raw = Buffer.from('{"name":');
      const sent = { method: 'POST', path: `${project}/uploads`, raw };
      const headers = { 'x-api-key': tintype.instance.api_key };
      expectRefusal(await call(tintype, { ...sent, headers }), 400, 'invalid_json');
    });

    it('a body that is too large returns 413 payload_too_large with the limit', async () => {
      const name = 'n'.repeat(BODY_BYTES_MAX);
      const answer = await alice('POST', '/v1/projects', { project_slug: 'large', name });
      expectRefusal(answer, 413, 'payload_too_large');
      expect(answer.body.error.details).toEqual({ max_bytes: BODY_BYTES_MAX });
    });

    it('a cursor that is altered or of another list returns 400 invalid_cursor', async () => {
      await upload(key, 'shop', asUpload({ file_slug: 'second.jpg' }));
      const { body } = await key('GET', `${project}/files?limit=1`);
      expect(body.next_cursor).toEqual(expect.any(String));
      const next = await key('GET', `${project}/files?limit=1&cursor=${body.next_cursor}`);
      expect(next.body.items).toHaveLength(1);
      for (const cursor of [`${body.next_cursor}A`, 'x', body.next_cursor.slice(1)]) {
        const answer = await key('GET', `${project}/files?cursor=${cursor}`);
        expectRefusal(answer, 400, 'invalid_cursor');
      }
      const borrowed = await key('GET', `${project}/uploads?limit=1&cursor=${body.next_cursor}`);
      expectRefusal(borrowed, 400, 'invalid_cursor');
    });
  });

  describe('projects and keys', () => {
    it('a slug that is already taken returns 409 project_exists', async () => {
      expectRefusal(
        await bob('POST', '/v1/projects', { project_slug: 'shop' }),
        409,
        'project_exists',
      );
    });

    it('fields that only staff may set return 403 staff_only_field', async () => {
      for (const body of [{ pricing_multiplier: 2 }, { storage_hard_limit_bytes: 1 }]) {
        expectRefusal(await alice('PATCH', '/v1/projects/shop', body), 403, 'staff_only_field');
      }
      const organization_id = tintype.instance.organization_id;
      const answer = await alice('POST', '/v1/projects', {
        project_slug: 'theirs',
        organization_id,
      });
      expectRefusal(answer, 403, 'staff_only_field');
    });

    it(`a project has at most ${KEYS_MAX} active keys`, async () => {
      await newProject('keys');
      const make = () => alice('POST', '/v1/projects/keys/keys', { name: 'one more' });
      const made: number[] = [];
      // A few calls at a time, because all of them wait for the same row; on a busy machine the
      // last of a hundred would time out.
      while (made.length < KEYS_MAX + 4) {
        const some = await Promise.all([make(), make(), make(), make()]);
        made.push(...some.map(({ status }) => status));
      }
      expect(made.filter((status) => status === 201)).toHaveLength(KEYS_MAX - 1);
      expectRefusal(await make(), 409, 'api_key_quota_exceeded');
    });
  });

  describe('uploads', () => {
    const uploads = '/v1/projects/shop/uploads';

    it.each([
      [jpeg({ content_type: 'image/heic' }), 400, 'unsupported_content_type'],
      [jpeg({ content_type: 'text/html' }), 400, 'unsupported_content_type'],
      [jpeg({ size_bytes: INGEST_BYTES_MAX + 1 }), 413, 'file_too_large'],
      [jpeg({ library: 'nowhere' }), 404, 'library_not_found'],
    ])('%j answers %i %s', async (body, status, code) => {
      expectRefusal(await key('POST', uploads, body), status, code);
    });

    it('an upload whose bytes never arrived cannot be completed', async () => {
      const { body } = await key('POST', uploads, jpeg());
      const complete = `${uploads}/${body.upload_id}/complete`;
      expectRefusal(await key('POST', complete), 409, 'ingest_object_missing');
      expectRefusal(await key('POST', complete, { parts: [] }), 400, 'not_multipart');
      expect((await key('GET', `${uploads}/${body.upload_id}`)).body.status).toBe('created');
    });

    it('storage accepts only the declared number of bytes, at the returned URL', async () => {
      const { body } = await key('POST', uploads, jpeg({ size_bytes: picture.length }));
      const { put_url, headers } = body.direct;
      const length = { ...headers, 'content-length': String(picture.length - 1) };
      expect((await put(put_url, length, picture.subarray(1))).status).toBe(403);
      const altered = put_url.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'));
      expect((await put(altered, headers, picture)).status).toBe(403);
      expect((await put(put_url, headers, picture)).status).toBe(200);
    });

    it('bytes with another SHA-256 than declared return 422 sha256_mismatch', async () => {
      const sha256 = createHash('sha256').update('something else').digest('hex');
      const answer = await sendUpload(key, 'shop', asUpload({ sha256 }));
      expectRefusal(answer, 422, 'sha256_mismatch');
    });

    it.each([
      ['a page', Buffer.from('<html>hello</html>'), 'unsupported_media_type'],
      ['another type than declared', pngBomb(10, 10), 'unsupported_media_type'],
      ['a torn picture', Buffer.from('ffd8ffe000104a46494600010100', 'hex'), 'decode_failed'],
    ])('%s fails with its own error code, which complete returns too', async (_, bytes, code) => {
      const session = await upload(key, 'shop', { bytes, content_type: 'image/jpeg' });
      expect(session).toMatchObject({ status: 'failed', error_code: code, ready_at: null });
      expectRefusal(await key('POST', `${uploads}/${session.upload_id}/complete`), 422, code);
    });

    it('a picture with too many pixels fails with image_too_large', async () => {
      const bytes = pngBomb(40_000, 40_000);
      const session = await upload(key, 'shop', { bytes, content_type: 'image/png' });
      expect(session).toMatchObject({ status: 'failed', error_code: 'image_too_large' });
    });

    it.each(['upl_00000000000000000000000000', 'upl_x', '../files'])(
      'an unknown upload session returns 404: %s',
      async (id) => {
        const { status } = await key('GET', `${uploads}/${id}`);
        expect(status).toBe(404);
      },
    );

    it('uploads beyond the storage limit return 403 storage_quota_exceeded', async () => {
      const size = INGEST_BYTES_MAX;
      const create = () => key('POST', uploads, jpeg({ size_bytes: size }));
      const answers = [];
      for (let count = 0; count < 5; count += 1) answers.push(await create());
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 403]);
      expectRefusal(await create(), 403, 'storage_quota_exceeded');
    });
  });

  describe('signed URLs', () => {
    const mint = (body: object, project = 'listed') =>
      alice('POST', `/v1/projects/${project}/signed-url`, body);

    beforeAll(async () => {
      const listed = await newProject('listed', { allowed_transform_chains: ['resize/100x100'] });
      await upload(listed, 'listed', asUpload({ file_slug: 'photo.jpg' }));
    });

    it('of a public project are minted only for originals and allowed transform chains', async () => {
      const wanted = { file_slug: 'photo.jpg', transform_chain: 'resize/20x20' };
      expectRefusal(await mint(wanted), 400, 'transform_chain_not_allowed');
      expect((await mint({ ...wanted, transform_chain: 'resize/100x100/fill' })).status).toBe(200);
      expect((await mint({ file_slug: 'photo.jpg' })).status).toBe(200);
    });

    it('are minted only for existing files, and for raw downloads only if these are enabled', async () => {
      expectRefusal(await mint({ file_slug: 'nothing.jpg' }), 404, 'file_not_found');
      const raw = { file_slug: 'photo.jpg', kind: 'raw' };
      expectRefusal(await mint(raw), 403, 'raw_download_disabled');
    });

    it('are not needed for originals and allowed transform chains; other chains return 403', async () => {
      const view = (chain: string) =>
        deliver(tintype, { project: 'listed', path: `/${chain}/f/photo.jpg` });
      expectRefusal(await view('resize/20x20'), 403, 'transform_chain_not_allowed');
      expectRefusal(await view('download/raw'), 404, 'not_found');
      expect((await view('resize/100x100')).status).toBe(200);
      expect((await view('originals')).status).toBe(200);
    });

    it(`are limited to ${MINTS_PER_MINUTE_MAX} per minute and project`, async () => {
      const answers = [];
      // More than the limit, even if a new minute begins in between.
      for (let count = 0; count <= 2 * MINTS_PER_MINUTE_MAX; count += 1) {
        const answer = await mint({ file_slug: 'photo.jpg' });
        answers.push(answer);
        if (answer.status !== 200) break;
      }
      const last = answers.at(-1) as Answer;
      expectRefusal(last, 429, 'rate_limited');
      const seconds = Number(last.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(last.body.error.message).toMatch(
        new RegExp(`^Too many signed URLs of one project: ${MINTS_PER_MINUTE_MAX} a minute `),
      );
    });
  });

  describe('a suspended project', () => {
    let suspended: Caller;

    beforeAll(async () => {
      suspended = await newProject('asleep');
      await upload(suspended, 'asleep', asUpload({ file_slug: 'photo.jpg' }));
      await alice('PATCH', '/v1/projects/asleep', { status: 'suspended' });
    });

    it('rejects uploads, deliveries and its API keys', async () => {
      expectRefusal(await suspended('GET', '/v1/key'), 401, 'unauthorized');
      const create = await alice('POST', '/v1/projects/asleep/uploads', jpeg());
      expectRefusal(create, 403, 'project_suspended');
      for (const chain of ['originals', 'resize/10x10', 'download/raw']) {
        const path = `/${chain}/f/photo.jpg`;
        expectRefusal(
          await deliver(tintype, { project: 'asleep', path }),
          403,
          'project_suspended',
        );
      }
    });

    it('can be reactivated by its owner, unless staff suspended it', async () => {
      const wake = () => alice('PATCH', '/v1/projects/asleep', { status: 'active' });
      expect((await wake()).body).toMatchObject({ status: 'active', suspended_by: null });
      const taken = await staff('PATCH', '/v1/projects/asleep', { status: 'suspended' });
      expect(taken.body).toMatchObject({ status: 'suspended', suspended_by: 'staff' });
      expectRefusal(await wake(), 403, 'project_suspended_by_staff');
      const freed = await staff('PATCH', '/v1/projects/asleep', { status: 'active' });
      expect([freed.status, (await suspended('GET', '/v1/key')).status]).toEqual([200, 200]);
    });
  });

  describe('delivery hosts', () => {
    it.each([
      ['an unknown project', 'nobody', '/originals/f/photo.jpg'],
      ['an unknown file', 'shop', '/originals/f/nothing.jpg'],
      ['an upper-case slug', 'shop', '/originals/f/PHOTO.jpg'],
      ['an escaped path', 'shop', '/originals/f/photo%2ejpg'],
      ['a path with dots', 'shop', '/originals/f/../f/photo.jpg'],
      ['a double slash', 'shop', '//originals/f/photo.jpg'],
      ['an empty query', 'shop', '/originals/f/photo.jpg?'],
    ])('%s returns 404 not_found', async (_, project, path) => {
      expectRefusal(await deliver(tintype, { project, path }), 404, 'not_found');
    });

    it('POST, PUT, DELETE and PATCH return 404 not_found', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
        const path = '/originals/f/photo.jpg';
        expectRefusal(await deliver(tintype, { project: 'shop', path, method }), 404, 'not_found');
      }
    });
  });

  // Must be last, because delivery from all projects of this organization is rejected afterwards.
  describe('an organization without credits', () => {
    it('gets 403 quota_exceeded for deliveries once it is charged, and can still create uploads', async () => {
      const view = (project: string, method: string) =>
        deliver(tintype, { project, path: '/originals/f/photo.jpg', method });
      // Delivery has no cached lookup of a new project.
      const fresh = await newProject('fresh');
      await upload(fresh, 'fresh', asUpload({ file_slug: 'photo.jpg' }));
      for (let count = 0; count < TRIAL_CREDITS; count += 50) {
        await Promise.all(Array.from({ length: 50 }, () => view('shop', 'HEAD')));
      }
      await chargeUntilOver();
      for (const chain of ['originals', 'resize/10x10', 'download/raw']) {
        const path = `/${chain}/f/photo.jpg`;
        expectRefusal(await deliver(tintype, { project: 'fresh', path }), 403, 'quota_exceeded');
      }
      const { body } = await alice('GET', '/v1/me');
      expect(body.organization.credit_balance).toBeLessThanOrEqual(0);
      expect(body.organization.quota_exceeded_at).toEqual(expect.any(String));
      expect((await fresh('POST', '/v1/projects/fresh/uploads', jpeg())).status).toBe(201);
    });

    async function chargeUntilOver(): Promise<void> {
      const at = new Date(Date.now() + 86_400_000).toISOString();
      for (let tries = 0; tries < 5; tries += 1) {
        await runTintype(['job', 'hourly-rollup', '--data', tintype.data]);
        await runTintype(['job', 'daily-charge', '--at', at, '--data', tintype.data]);
        const { body } = await alice('GET', '/v1/me');
        if (body.organization.quota_exceeded_at !== null) return;
      }
    }
  });
});
