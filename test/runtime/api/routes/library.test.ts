// Spec: Library sessions and the picker (/v1/library/*); Limits, Library sessions; Rates (max_uploads).
import { beforeEach, describe, expect, it } from 'vitest';
import { createLibraryUpload } from '../../../../runtime/actions/create-library-upload.ts';
import { createSessionFacts } from '../../../../runtime/api/auth/library-session.ts';
import {
  libraryFileRecord,
  libraryUploadRecord,
} from '../../../../runtime/core/resources/library-session.ts';
import { verifyDeliveryUrl } from '../../../../runtime/core/signing/delivery-url.ts';
import type { LibrarySessionClaims } from '../../../../runtime/core/signing/library-session.ts';
import { claimUpload } from '../../../../runtime/db/claim-upload.ts';
import { updateFileBlocked } from '../../../../runtime/db/files.ts';
import { findProject } from '../../../../runtime/db/projects.ts';
import { listSigningKeys } from '../../../../runtime/db/signing-keys.ts';
import { signingKeyContext } from '../../../../runtime/platform/sealing-contexts.ts';
import {
  type Answer,
  type Caller,
  codeOf,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import {
  type LibraryProject,
  libraryProject,
  ORIGIN,
  withToken,
} from '../../../support/library-sessions.ts';
import { makeFile, must, publish } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
let shop: LibraryProject;
let libraryId: string;

beforeEach(async () => {
  shop = await libraryProject(api, owner);
  libraryId = (await shop.key('GET', `${shop.path}/libraries/press`)).body.library_id;
});

const LIST = '/v1/library/files';
const UPLOADS = '/v1/library/uploads';
const put = (file_slug: string, place: object = {}) =>
  makeFile(api.db, shop.project, { file_slug, library_id: libraryId, ...place });
const slugsOf = ({ body }: Answer) =>
  body.items.map((item: { file_slug: string }) => item.file_slug);
const forget = () => api.change({ sessionFacts: createSessionFacts() });
const image = { content_type: 'image/png', size_bytes: 1000, original_filename: 'Füße.png' };
const pathOf = (url: string) => url.slice(new URL(url).origin.length);

/** Sends the bytes, as a browser does, and publishes the upload, as a worker does. */
async function finish({ body }: Answer): Promise<void> {
  const headers = { 'content-type': body.content_type };
  const raw = Buffer.alloc(body.size_bytes);
  const sent = await api.send({ method: 'PUT', path: pathOf(body.proxy.put_url), headers, raw });
  expect(sent.status, sent.text).toBe(204);
  const { upload_id } = body;
  await publish(api.db, must(await claimUpload(api.db, { upload_id, lease_seconds: 60 })));
}

async function upload(token: Caller, request: object = {}): Promise<string> {
  const answer = await token('POST', UPLOADS, { ...image, ...request });
  expect(answer.status, answer.text).toBe(201);
  await finish(answer);
  return answer.body.upload_id;
}

describe('GET /v1/library/files', () => {
  it('lists the ready files of the session’s library and folder subtree, newest first, page by page', async () => {
    await put('elsewhere', { library_id: null });
    for (const [slug, folder] of [
      ['root', ''],
      ['a', 'a'],
      ['deep', 'a/b/c'],
      ['near', 'ab'],
      ['a2', 'a!'],
    ]) {
      await put(slug ?? '', { folder });
    }
    const { file_id } = await put('blocked', { folder: 'a' });
    const block = { file_id, blocked_by: 'staff', reason: 'x' } as const;
    await api.db.transaction((tx) => updateFileBlocked(tx, block));
    await put('gone', { folder: 'a' });
    await shop.key('DELETE', `${shop.path}/files/gone`);
    const all = await (await shop.open())('GET', LIST);
    expect(slugsOf(all)).toEqual(['a2', 'near', 'deep', 'a', 'root']);
    for (const item of all.body.items) expectRecord(libraryFileRecord, item);
    const token = await shop.open({ folder: 'a' });
    const first = await token('GET', `${LIST}?limit=1`);
    const second = await token('GET', `${LIST}?limit=1&cursor=${first.body.next_cursor}`);
    expect([...slugsOf(first), ...slugsOf(second)]).toEqual(['deep', 'a']);
    expect(second.body.next_cursor).toBeNull();
  });

  it('returns 1 to 60 files per page, 40 by default, and rejects a cursor of another scope', async () => {
    for (let n = 0; n < 42; n++) await put(`f${n}`);
    const token = await shop.open();
    const { body } = await token('GET', LIST);
    expect(body.items).toHaveLength(40);
    expect((await token('GET', `${LIST}?limit=60`)).body.items).toHaveLength(42);
    for (const limit of ['0', '61', 'x']) {
      expect(issuesOf(await token('GET', `${LIST}?limit=${limit}`))).toEqual(['limit']);
    }
    expect(issuesOf(await token('GET', `${LIST}?folder=a`))).toEqual(['folder']);
    const again = await shop.open({ subject: 'other' });
    expect((await again('GET', `${LIST}?cursor=${body.next_cursor}`)).body.items).toHaveLength(2);
    const narrower = await shop.open({ folder: 'f' });
    for (const call of [
      narrower('GET', `${LIST}?cursor=${body.next_cursor}`),
      token('GET', `${LIST}?search=f1&cursor=${body.next_cursor}`),
      token('GET', `${LIST}?cursor=${body.next_cursor}x`),
    ]) {
      expect(codeOf(await call)).toBe('400 invalid_cursor');
    }
  });

  it('searches within the session’s folder, for at least two characters', async () => {
    await put('red', { title: 'Red Shoe' });
    await put('blue', { title: 'Blue Shoe', folder: 'a' });
    const token = await shop.open({ folder: 'a' });
    expect(slugsOf(await token('GET', `${LIST}?search=SHOE`))).toEqual(['blue']);
    for (const search of ['', 'a', '%20a%20']) {
      expect(codeOf(await token('GET', `${LIST}?search=${search}`))).toBe('400 invalid_search');
    }
  });

  it('shows with browse_own only files whose current revision this subject uploaded', async () => {
    const mine = await shop.open({ permissions: ['browse_own', 'upload'] });
    const theirs = await shop.open({ permissions: ['browse_own', 'upload'], subject: 'other' });
    const id = await upload(mine);
    await upload(theirs);
    await put('of-the-tenant');
    expect(slugsOf(await mine('GET', LIST))).toEqual([id]);
    const again = await shop.open({ permissions: ['browse_own'] });
    expect(slugsOf(await again('GET', LIST))).toEqual([id]);
    const found = await shop.key('GET', `${shop.path}/files?uploader=editor-42`);
    expect(slugsOf(found)).toEqual([id]);
    expect(found.body.filters).toEqual({ uploader: true });
    await put(id);
    expect(slugsOf(await mine('GET', LIST))).toEqual([]);
    expect(slugsOf(await shop.key('GET', `${shop.path}/files?uploader=editor-42`))).toEqual([]);
  });

  it('finds what the subject uploaded before the subject keys were rotated', async () => {
    const { libraryKeys } = api.deps();
    const id = await upload(await shop.open());
    const subjects = [Buffer.alloc(32, 9), ...libraryKeys.subjects];
    api.change({ libraryKeys: { ...libraryKeys, subjects } });
    const later = await upload(await shop.open());
    const own = await shop.open({ permissions: ['browse_own'] });
    expect(slugsOf(await own('GET', LIST))).toEqual([later, id]);
  });

  it('accepts a cursor from before the session was refreshed with an additional subject key', async () => {
    const { libraryKeys } = api.deps();
    const request = { permissions: ['browse_own', 'upload'] };
    const { token } = (await shop.mint(request)).body;
    const before = withToken(api, token);
    const ids = [await upload(before), await upload(before)];
    const first = await before('GET', `${LIST}?limit=1`);
    const subjects = [Buffer.alloc(32, 9), ...libraryKeys.subjects];
    api.change({ libraryKeys: { ...libraryKeys, subjects } });
    const after = await shop.open({ ...request, refresh_of: token });
    const second = await after('GET', `${LIST}?limit=1&cursor=${first.body.next_cursor}`);
    expect(second.status, second.text).toBe(200);
    expect([...slugsOf(first), ...slugsOf(second)]).toEqual(ids.toReversed());
  });

  it('returns 403 permission_denied without a permission to browse', async () => {
    const token = await shop.open({ permissions: ['upload'] });
    expect(codeOf(await token('GET', LIST))).toBe('403 permission_denied');
  });

  it('returns 422 filter_unavailable in a large project', async () => {
    await put('a');
    await put('b');
    api.change({ settings: { unindexedThreshold: 1 } });
    const answer = await (await shop.open())('GET', LIST);
    expect(codeOf(answer)).toBe('422 filter_unavailable');
    expect(answer.body.error.details).toEqual({ max_files: 1 });
  });
});

describe('a thumbnail URL', () => {
  const CHAIN = 'resize/320x320/fit/format/webp';
  const thumbnail = async () => {
    forget();
    const { body } = await (await shop.open())('GET', LIST);
    return new URL(body.items[0].thumbnail_url);
  };

  /** Verifies the signature as a delivery host does. */
  async function isSigned({ pathname, searchParams }: URL): Promise<boolean> {
    const { project_id } = shop.project;
    const { sealing } = api.deps();
    const keys = await listSigningKeys(api.db, project_id);
    const { exp = '', kid = '', sig = '' } = Object.fromEntries(searchParams);
    const secret = keys.find((key) => key.kid === kid)?.secret_sealed;
    if (secret == null) return false;
    const verdict = verifyDeliveryUrl({
      secret: sealing.open(secret, signingKeyContext(kid)),
      project_id,
      path: pathname,
      exp: Number(exp),
      kid,
      sig,
      now_seconds: Math.floor(Date.now() / 1000),
    });
    return verdict === 'valid';
  }

  it('is unsigned if its chain is public, and otherwise signed for at most the session’s lifetime', async () => {
    await put('a.png');
    const open = await thumbnail();
    expect(open.pathname).toBe(`/${CHAIN}/f/a.png`);
    expect(open.search).toBe('');
    await owner('PATCH', shop.path, { allowed_transform_chains: ['resize/10x10'] });
    expect(await isSigned(await thumbnail())).toBe(true);
    await owner('PATCH', shop.path, { allowed_transform_chains: [CHAIN] });
    expect((await thumbnail()).search).toBe('');
    await owner('PATCH', shop.path, { delivery_access: 'protected' });
    const signed = await thumbnail();
    expect(await isSigned(signed)).toBe(true);
    expect(Number(signed.searchParams.get('exp')) * 1000).toBeLessThan(Date.now() + 3_601_000);
  });
});

describe('POST /v1/library/uploads', () => {
  it('creates an upload with a generated slug in the session’s folder, which becomes a file', async () => {
    const token = await shop.open({ folder: 'a/b' });
    const request = { ...image, content_type: 'Image/PNG', title: ' Feet\u0007 ' };
    const answer = await token('POST', UPLOADS, request);
    expect(answer.status).toBe(201);
    expectRecord(libraryUploadRecord, answer.body);
    const begun = { status: 'created', content_type: 'image/png', file: null };
    expect(answer.body).toMatchObject(begun);
    const path = `${UPLOADS}/${answer.body.upload_id}`;
    expect((await token('GET', path)).body).toMatchObject({ status: 'created', file: null });
    await finish(answer);
    const { body } = await token('GET', path);
    expectRecord(libraryUploadRecord, body);
    expect(body).not.toHaveProperty('proxy');
    expect(body.file).toMatchObject({
      file_slug: answer.body.upload_id,
      folder: 'a/b',
      title: 'Feet',
      original_filename: 'Füße.png',
      revision: 1,
    });
    const file = await shop.key('GET', `${shop.path}/files/${answer.body.upload_id}`);
    expect(file.body).toMatchObject({ library: 'press', folder: 'a/b' });
    await shop.key('DELETE', `${shop.path}/files/${answer.body.upload_id}`);
    expect((await token('GET', path)).body).toMatchObject({ status: 'ready', file: null });
  });

  it('accepts the PUT for 15 minutes, but no longer than the token is valid', async () => {
    const lifetime = async (expires_in: number) => {
      const session = (await shop.mint({ expires_in })).body;
      const { body } = await withToken(api, session.token)('POST', UPLOADS, image);
      expect(Date.parse(body.expires_at)).toBeLessThanOrEqual(Date.parse(session.expires_at));
      const exp = Number(new URL(body.proxy.put_url).searchParams.get('exp'));
      expect(new Date(body.expires_at).getTime()).toBeLessThan((exp + 1) * 1000);
      return exp - Date.now() / 1000;
    };
    expect(await lifetime(60)).toBeLessThanOrEqual(60);
    const long = await lifetime(3600);
    expect(long).toBeLessThanOrEqual(900);
    expect(long).toBeGreaterThan(800);
  });

  it('rejects an upload with session_expired if the token expired while it waited for its turn', async () => {
    const { token } = (await shop.mint()).body;
    const claims: LibrarySessionClaims = JSON.parse(
      Buffer.from(token.split('.')[2], 'base64url').toString(),
    );
    const deps = { ...api.deps(), clock: { now: () => new Date(claims.exp * 1000) } };
    const project = must(await findProject(api.db, claims.project_id));
    const request = { ...image, title: null };
    const begun = createLibraryUpload(deps, { claims, project, input: request });
    await expect(begun).rejects.toMatchObject({ code: 'session_expired' });
  });

  it('rejects too large sizes, unsupported types, unknown fields and a missing permission', async () => {
    const token = await shop.open({ max_file_bytes: 1000 });
    const large = await token('POST', UPLOADS, { ...image, size_bytes: 1001 });
    expect(codeOf(large)).toBe('413 file_too_large');
    expect(large.body.error.details).toEqual({ max_bytes: 1000 });
    expect((await token('POST', UPLOADS, image)).status).toBe(201);
    const wrong = await token('POST', UPLOADS, { ...image, content_type: 'image/heic' });
    expect(codeOf(wrong)).toBe('400 unsupported_content_type');
    for (const body of [
      { ...image, file_slug: 'mine' },
      { ...image, folder: 'x' },
      { ...image, size_bytes: 0 },
    ]) {
      expect(codeOf(await token('POST', UPLOADS, body))).toBe('400 invalid_request');
    }
    const browsing = await shop.open({ permissions: ['browse'] });
    expect(codeOf(await browsing('POST', UPLOADS, image))).toBe('403 permission_denied');
  });

  it('returns 429 session_upload_limit after max_uploads accepted uploads, even concurrently or after a refresh', async () => {
    const minted = await shop.mint({ max_uploads: 3 });
    const headers = { authorization: `Bearer ${minted.body.token}` };
    const begin = (body: object = image) =>
      api.send({ method: 'POST', path: UPLOADS, body, headers });
    const wrong = await begin({ ...image, content_type: 'image/heic' });
    expect(codeOf(wrong)).toBe('400 unsupported_content_type');
    const answers = await Promise.all(Array.from({ length: 10 }, () => begin()));
    const codes = answers.map(codeOf).toSorted();
    expect(codes).toEqual(['201', '201', '201', ...Array(7).fill('429 session_upload_limit')]);
    const again = await shop.open({ max_uploads: 3, refresh_of: minted.body.token });
    expect(codeOf(await again('POST', UPLOADS, image))).toBe('429 session_upload_limit');
    const kept = answers.find(({ status }) => status === 201)?.body.upload_id;
    expect((await again('GET', `${UPLOADS}/${kept}`)).status).toBe(200);
    expect((await (await shop.open())('POST', UPLOADS, image)).status).toBe(201);
  });

  it('returns the same response for the same Idempotency-Key, and creates one upload', async () => {
    const { token } = (await shop.mint({ max_uploads: 1 })).body;
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'k1' };
    const call = () => api.send({ method: 'POST', path: UPLOADS, body: image, headers });
    const first = await call();
    expect((await call()).body).toEqual(first.body);
  });

  it('returns 409 media_library_disabled while writes are off, except at the default library’s root', async () => {
    await shop.key('PATCH', `${shop.path}/libraries/default`, { allowed_origins: [ORIGIN] });
    const [named, folder, root] = [
      await shop.open(),
      await shop.open({ library: 'default', folder: 'a' }),
      await shop.open({ library: 'default' }),
    ];
    api.change({ settings: { mediaLibraryWrites: 'disabled' } });
    for (const token of [named, folder]) {
      expect(codeOf(await token('POST', UPLOADS, image))).toBe('409 media_library_disabled');
    }
    expect((await root('POST', UPLOADS, image)).status).toBe(201);
  });

  it('returns 401 session_revoked immediately after the library was deleted', async () => {
    const token = await shop.open();
    expect((await token('GET', LIST)).status).toBe(200);
    await shop.key('DELETE', `${shop.path}/libraries/press`);
    expect(codeOf(await token('POST', UPLOADS, image))).toBe('401 session_revoked');
  });
});

describe('a picker upload', () => {
  it('is found only by its own session', async () => {
    const token = await shop.open();
    const { upload_id } = (await token('POST', UPLOADS, image)).body;
    const others = [await shop.open(), await (await libraryProject(api, owner)).open()];
    for (const id of [upload_id, 'upl_none', '%00', 'x'.repeat(300)]) {
      for (const other of others) {
        expect(codeOf(await other('GET', `${UPLOADS}/${id}`))).toBe('404 upload_not_found');
        for (const step of ['complete', 'abort']) {
          const answer = await other('POST', `${UPLOADS}/${id}/${step}`);
          expect(codeOf(answer)).toBe('404 upload_not_found');
        }
      }
    }
    const ofTheTenant = { content_type: 'image/png', size_bytes: 1 };
    const { body } = await shop.key('POST', `${shop.path}/uploads`, ofTheTenant);
    expect(codeOf(await token('GET', `${UPLOADS}/${body.upload_id}`))).toBe('404 upload_not_found');
  });

  it('can be read without a signing key as long as it is not a file', async () => {
    await owner('PATCH', shop.path, { delivery_access: 'protected' });
    const token = await shop.open();
    const { upload_id } = (await token('POST', UPLOADS, image)).body;
    await api.db.query('delete from signing_keys where project_id = $1', [shop.project.project_id]);
    forget();
    const { body } = await token('GET', `${UPLOADS}/${upload_id}`);
    expect(body).toMatchObject({ status: 'created', file: null });
    expect(codeOf(await token('GET', LIST))).toBe('409 signing_key_missing');
  });

  it('is completed by its PUT; complete returns 409 before that, and is idempotent afterwards', async () => {
    const token = await shop.open();
    const answer = await token('POST', UPLOADS, image);
    const path = `${UPLOADS}/${answer.body.upload_id}`;
    expect(codeOf(await token('POST', `${path}/complete`))).toBe('409 ingest_object_missing');
    await finish(answer);
    const [once, twice] = [
      await token('POST', `${path}/complete`),
      await token('POST', `${path}/complete`),
    ];
    expect(once.body).toMatchObject({ status: 'ready', file: { revision: 1 } });
    expect(twice.body).toEqual(once.body);
  });

  it('can be aborted before its bytes arrive, which rejects its PUT and frees its storage and library', async () => {
    const token = await shop.open();
    const answer = await token('POST', UPLOADS, image);
    const path = `${UPLOADS}/${answer.body.upload_id}`;
    const [once, twice] = [
      await token('POST', `${path}/abort`),
      await token('POST', `${path}/abort`),
    ];
    expectRecord(libraryUploadRecord, once.body);
    expect(once.body).toMatchObject({ status: 'expired', file: null });
    expect(twice.body).toEqual(once.body);
    const raw = Buffer.alloc(image.size_bytes);
    const late = await api.send({ method: 'PUT', path: pathOf(answer.body.proxy.put_url), raw });
    expect(codeOf(late)).toBe('409 upload_not_pending');
    const query = 'select reserved_bytes from projects where project_id = $1';
    expect(await api.db.query(query, [shop.project.project_id])).toEqual([{ reserved_bytes: 0 }]);
    expect((await shop.key('DELETE', `${shop.path}/libraries/press`)).status).toBe(204);
  });

  it('cannot be aborted once its bytes have arrived', async () => {
    const token = await shop.open();
    const path = `${UPLOADS}/${await upload(token)}`;
    expect(codeOf(await token('POST', `${path}/abort`))).toBe('409 upload_not_pending');
    expect((await token('GET', path)).body).toMatchObject({ status: 'ready' });
  });
});
