// Spec: Library session; Library sessions and the picker; Authentication, Rules 5 and 6; Limits, Library sessions.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createSessionFacts } from '../../../../runtime/api/auth/library-session.ts';
import { librarySessionRecord } from '../../../../runtime/core/resources/library-session.ts';
import { verifyEmbedUrl } from '../../../../runtime/core/signing/embed-url.ts';
import {
  type LibrarySessionClaims,
  signLibrarySession,
} from '../../../../runtime/core/signing/library-session.ts';
import type { Queryable } from '../../../../runtime/db/client.ts';
import {
  type Answer,
  codeOf,
  createKey,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { auditEntries } from '../../../support/audit-entries.ts';
import {
  type LibraryProject,
  libraryProject,
  ORIGIN,
  usualInput,
  withToken,
} from '../../../support/library-sessions.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
let shop: LibraryProject;

beforeEach(async () => {
  shop = await libraryProject(api, owner);
});

const nowSeconds = () => Math.floor(Date.now() / 1000);
const claimsOf = (token: string): LibrarySessionClaims =>
  JSON.parse(Buffer.from(token.split('.')[2] ?? '', 'base64url').toString());
const sign = (claims: LibrarySessionClaims) => {
  const [key] = api.deps().libraryKeys.sessions;
  if (key === undefined) throw new Error('no key');
  return signLibrarySession(key, claims);
};
const files = (token: string) => withToken(api, token)('GET', '/v1/library/files');
/** Empties the cache, so that sessions are read from the database again. */
const forget = () => api.change({ sessionFacts: createSessionFacts() });
const backdate = () =>
  api.db.query(
    `update library_session_revocations set revoked_at = revoked_at - interval '2 minutes'`,
  );

describe('POST …/library-sessions', () => {
  it('returns 201 with the token, its permissions and a picker URL that verifies', async () => {
    const { status, body } = await shop.mint({
      folder: '/2026/',
      permissions: ['upload', 'browse'],
    });
    expect(status).toBe(201);
    expectRecord(librarySessionRecord, body);
    expect(body).toMatchObject({
      session_id: expect.stringMatching(/^ses_/),
      token: expect.stringMatching(/^ls1\.t1\./),
      library: 'press',
      folder: '2026',
      permissions: ['browse', 'upload'],
      origin: ORIGIN,
      max_file_bytes: 10_000_000,
      max_uploads: 100,
    });
    const url = new URL(body.embed_url);
    expect(url.pathname).toBe(`/embed/${shop.project.project_slug}/press`);
    const { o = '', exp = '', kid = '', s = '' } = Object.fromEntries(url.searchParams);
    expect(o).toBe(ORIGIN);
    expect(new Date(Number(exp) * 1000).toISOString()).toBe(body.expires_at);
    const project = shop.project.project_slug;
    const query = { o, exp, kid, s };
    const keys = api.deps().libraryKeys.embeds;
    expect(
      verifyEmbedUrl({ keys, project, library: 'press', query, now_seconds: nowSeconds() }),
    ).toBe('valid');
  });

  it('keeps the subject out of the token, response and audit log, and its MAC out of the audit log', async () => {
    const { body, headers } = await shop.mint({ subject: 'lovelace@example.com' });
    expect(JSON.stringify([claimsOf(body.token), body])).not.toContain('lovelace');
    const [entry] = await auditEntries(api.db, shop.project, 'library_session.mint');
    expect(entry).toMatchObject({
      actor_kind: 'key',
      target: body.session_id,
      request_id: headers['x-request-id'],
      after: { session_id: body.session_id, library: 'press', expires_at: body.expires_at },
    });
    expect(JSON.stringify(entry)).not.toContain('lovelace');
    expect(JSON.stringify(entry)).not.toContain(claimsOf(body.token).subject_mac);
  });

  it('accepts an origin that the library or the default library allows', async () => {
    const other = 'http://localhost:3000';
    expect(codeOf(await shop.mint({ origin: other }))).toBe('403 origin_not_allowed');
    expect(codeOf(await shop.mint({ library: 'default' }))).toBe('403 origin_not_allowed');
    await shop.key('PATCH', `${shop.path}/libraries/default`, { allowed_origins: [other] });
    expect((await shop.mint({ origin: other })).status).toBe(201);
    expect((await shop.mint({ origin: other, library: ' Default ' })).body.library).toBe('default');
    expect((await shop.mint({ origin: 'HTTPS://CMS.example.com' })).body.origin).toBe(ORIGIN);
  });

  it.each([
    [['browse'], ['files:write', 'urls:sign']],
    [['browse_own'], ['files:write', 'urls:sign']],
    [['upload'], ['files:read', 'urls:sign']],
    [['browse', 'upload'], ['files:read']],
  ])(
    'returns 403 scope_missing for %j if the key has library:sessions and only %j',
    async (permissions, scopes) => {
      const { project_slug } = shop.project;
      const secret = await createKey(owner, project_slug, ['library:sessions', ...scopes]);
      const input = { ...usualInput, permissions };
      const answer = await api.withKey(secret)('POST', `${shop.path}/library-sessions`, input);
      expect(codeOf(answer)).toBe('403 scope_missing');
    },
  );

  it('requires urls:sign if delivery is protected', async () => {
    const scopes = ['library:sessions', 'files:read', 'files:write'];
    const key = api.withKey(await createKey(owner, shop.project.project_slug, scopes));
    const mint = () => key('POST', `${shop.path}/library-sessions`, usualInput);
    expect((await mint()).status).toBe(201);
    await owner('PATCH', shop.path, { delivery_access: 'protected' });
    const answer = await mint();
    expect(codeOf(answer)).toBe('403 scope_missing');
    expect(answer.body.error.message).toContain('urls:sign');
  });

  it.each([
    [{ library: 'never' }, '404 library_not_found'],
    [{ library: 'no/slug' }, '404 library_not_found'],
    [{ folder: '..' }, '400 invalid_folder'],
    [{ folder: 'a/'.repeat(11) }, '400 invalid_folder'],
    [{ permissions: ['browse', 'browse_own'] }, '400 invalid_permissions'],
    [{ subject: '' }, '400 invalid_subject'],
    [{ subject: 'x'.repeat(129) }, '400 invalid_subject'],
    [{ subject: 'a\u0000b' }, '400 invalid_subject'],
    [{ subject: 'a\ud800b' }, '400 invalid_subject'],
    [{ folder: 'a\ud800b' }, '400 invalid_folder'],
  ])('rejects %j with %s', async (input, code) => {
    expect(codeOf(await shop.mint(input))).toBe(code);
  });

  it('accepts a subject of 128 characters, even if they are emoji', async () => {
    expect((await shop.mint({ subject: '😀'.repeat(128) })).status).toBe(201);
  });

  const wrong: [input: object, field: string][] = [
    [{ permissions: [] }, 'permissions'],
    [{ permissions: ['delete'] }, 'permissions[0]'],
    [{ origin: 'http://cms.example.com' }, 'origin'],
    [{ origin: `${ORIGIN}/page` }, 'origin'],
    [{ expires_in: 59 }, 'expires_in'],
    [{ expires_in: 3601 }, 'expires_in'],
    [{ max_uploads: 0 }, 'max_uploads'],
    [{ max_uploads: 1001 }, 'max_uploads'],
    [{ max_file_bytes: 0 }, 'max_file_bytes'],
    [{ max_file_bytes: 10_000_001 }, 'max_file_bytes'],
    [{ subject: 7 }, 'subject'],
    [{ color: 'red' }, 'color'],
  ];
  it.each(wrong)('returns 400 invalid_request for %j', async (input, field) => {
    const answer = await shop.mint(input);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer)).toEqual([field]);
  });

  it('accepts the limits themselves, and defaults to 25 MiB per file if the proxy accepts more', async () => {
    for (const expires_in of [60, 3600]) {
      const { body } = await shop.mint({
        expires_in,
        max_uploads: 1000,
        max_file_bytes: 10_000_000,
      });
      const { iat, exp } = claimsOf(body.token);
      expect(exp - iat).toBe(expires_in);
    }
    const addresses = { ...api.deps().addresses, proxyMaxBytes: 100_000_000 };
    api.change({ addresses });
    expect((await shop.mint()).body.max_file_bytes).toBe(25 * 1024 * 1024);
  });

  it('returns 409 library_sessions_disabled while they are disabled, as does a request with a token', async () => {
    const { token } = (await shop.mint()).body;
    api.change({ settings: { librarySessions: 'disabled' } });
    expect(codeOf(await shop.mint())).toBe('409 library_sessions_disabled');
    expect(codeOf(await files(token))).toBe('409 library_sessions_disabled');
  });

  it('returns 409 subject_key_unavailable without a subject key, as does the filter by uploader', async () => {
    api.change({ libraryKeys: { ...api.deps().libraryKeys, subjects: [] } });
    expect(codeOf(await shop.mint())).toBe('409 subject_key_unavailable');
    const revoke = `${shop.path}/library-sessions/revoke`;
    const byUploader = `${shop.path}/files?uploader=me`;
    expect(codeOf(await shop.key('POST', revoke, { subject: 'me' }))).toBe(
      '409 subject_key_unavailable',
    );
    expect(codeOf(await shop.key('GET', byUploader))).toBe('409 subject_key_unavailable');
    expect((await shop.key('POST', revoke)).status).toBe(200);
  });
});

describe('refreshing a library session', () => {
  const remint = (token: string, input: object = {}) => shop.mint({ refresh_of: token, ...input });

  it('continues the session, and may make it shorter and narrower', async () => {
    const first = (await shop.mint({ folder: 'a' })).body;
    const second = await remint(first.token, {
      folder: 'a/b',
      permissions: ['browse_own'],
      expires_in: 60,
    });
    expect(second.status).toBe(201);
    expect(second.body).toMatchObject({ session_id: first.session_id, folder: 'a/b' });
    expect(second.body.token).not.toBe(first.token);
  });

  it.each([
    [{ library: 'default' }, 'library'],
    [{ origin: 'https://other.example' }, 'origin'],
    [{ subject: 'editor-43' }, 'subject'],
    [{ folder: '' }, 'folder'],
    [{ folder: 'ab' }, 'folder'],
    [{ permissions: ['browse', 'upload'] }, 'permissions'],
    [{ max_uploads: 11 }, 'max_uploads'],
    [{ max_file_bytes: 1001 }, 'max_file_bytes'],
  ])('returns 400 refresh_mismatch for %j', async (input, field) => {
    const allowed_origins = [ORIGIN, 'https://other.example'];
    await shop.key('PATCH', `${shop.path}/libraries/default`, { allowed_origins });
    const own = { folder: 'a', permissions: ['browse'], max_uploads: 10, max_file_bytes: 1000 };
    const { token } = (await shop.mint(own)).body;
    const answer = await remint(token, { ...own, ...input });
    expect(codeOf(answer)).toBe('400 refresh_mismatch');
    expect(answer.body.error.message).toContain(`in ${field}.`);
  });

  it('returns 400 refresh_mismatch for a token of another project', async () => {
    const { token } = (await (await libraryProject(api, owner)).mint()).body;
    expect(codeOf(await remint(token))).toBe('400 refresh_mismatch');
  });

  it('continues a session up to 10 minutes after it expired; later it starts a new one', async () => {
    const { token, session_id } = (await shop.mint()).body;
    const ended = (ago: number) => {
      const exp = nowSeconds() - ago;
      return sign({ ...claimsOf(token), iat: exp - 60, exp });
    };
    expect((await remint(ended(5))).body.session_id).toBe(session_id);
    expect((await remint(ended(570))).body.session_id).toBe(session_id);
    expect((await remint(ended(610))).body.session_id).not.toBe(session_id);
  });

  it('begins a new session for a token that does not verify or was revoked', async () => {
    const { token, session_id } = (await shop.mint()).body;
    for (const wrong of ['', 'ls1.t1.abc.def', `${token}x`, 'x'.repeat(5000)]) {
      const answer = await remint(wrong, { folder: 'elsewhere' });
      expect(answer.status).toBe(201);
      expect(answer.body.session_id).not.toBe(session_id);
    }
    await shop.key('POST', `${shop.path}/library-sessions/revoke`);
    await backdate();
    const old = sign({ ...claimsOf(token), iat: nowSeconds() - 600 });
    expect((await remint(old)).body.session_id).not.toBe(session_id);
  });
});

describe('POST …/library-sessions/revoke', () => {
  const revoke = (body?: unknown) => shop.key('POST', `${shop.path}/library-sessions/revoke`, body);

  it('ends all sessions of the project immediately, and allows new ones after a minute', async () => {
    const { token } = (await shop.mint()).body;
    const theirs = (await (await libraryProject(api, owner)).mint()).body.token;
    expect((await files(token)).status).toBe(200);
    const { status, body } = await revoke();
    expect(status).toBe(200);
    expect(Date.parse(body.mint_again_at) - Date.parse(body.revoked_at)).toBe(60_000);
    expect(codeOf(await files(token))).toBe('401 session_revoked');
    expect((await files(theirs)).status).toBe(200);
    const refused = await shop.mint();
    expect(codeOf(refused)).toBe('409 sessions_recently_revoked');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
    await backdate();
    expect((await shop.mint()).status).toBe(201);
  });

  it('ends only the sessions of the given subject', async () => {
    const mine = (await shop.mint()).body.token;
    const other = (await shop.mint({ subject: 'editor-43' })).body.token;
    expect((await revoke({ subject: 'editor-42' })).status).toBe(200);
    expect(codeOf(await files(mine))).toBe('401 session_revoked');
    expect((await files(other)).status).toBe(200);
    expect(codeOf(await shop.mint())).toBe('409 sessions_recently_revoked');
    expect((await shop.mint({ subject: 'editor-43' })).status).toBe(201);
    expect(codeOf(await revoke({ subject: '' }))).toBe('400 invalid_subject');
  });

  it('does not end later sessions, and is audited as a revocation for one subject', async () => {
    await revoke({ subject: 'editor-42' });
    await backdate();
    const { token } = (await shop.mint()).body;
    forget();
    expect((await files(token)).status).toBe(200);
    const [entry] = await auditEntries(api.db, shop.project, 'library_session.revoke');
    expect(entry).toMatchObject({ actor_kind: 'key', after: { of: 'one subject' } });
    expect((await owner('POST', `${shop.path}/library-sessions/revoke`)).status).toBe(200);
  });
});

describe('a library session token', () => {
  it('is rejected with 401 minting_key_revoked once its key is revoked or rotated', async () => {
    for (const action of ['revoke', 'rotate']) {
      const made = await owner('POST', `${shop.path}/keys`, { name: 'mints' });
      const mints = api.withKey(made.body.plaintext_secret);
      const { token } = (await mints('POST', `${shop.path}/library-sessions`, usualInput)).body;
      expect((await files(token)).status).toBe(200);
      await owner('POST', `${shop.path}/keys/${made.body.id}/${action}`);
      expect(codeOf(await files(token))).toBe('401 minting_key_revoked');
    }
  });

  it('is rejected within five seconds by a process that was not told of the revocation', async () => {
    const began = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(began);
    const { token } = (await shop.mint()).body;
    expect((await files(token)).status).toBe(200);
    await api.db.query(`update api_keys set status = 'revoked', revoked_at = now()`);
    expect((await files(token)).status).toBe(200);
    clock.mockReturnValue(began + 5002);
    await expect.poll(async () => codeOf(await files(token))).toBe('401 minting_key_revoked');
    clock.mockRestore();
  });

  it('is rejected with 401 session_revoked once its library is deleted, even if the slug is reused', async () => {
    const { token } = (await shop.mint()).body;
    expect((await files(token)).status).toBe(200);
    await shop.key('DELETE', `${shop.path}/libraries/press`);
    expect(codeOf(await files(token))).toBe('401 session_revoked');
    await shop.key('POST', `${shop.path}/libraries`, { slug: 'press', name: 'Press' });
    expect(codeOf(await files(token))).toBe('401 session_revoked');
  });

  it('is looked up again if its library was deleted during the previous lookup', async () => {
    const { token } = (await shop.mint()).body;
    const facts = createSessionFacts();
    const claims = claimsOf(token);
    const slow: Queryable = {
      query: async (text, values) => {
        const rows = await api.db.query<never>(text, values);
        await shop.key('DELETE', `${shop.path}/libraries/press`);
        facts.forget(shop.project.project_id);
        return rows;
      },
    };
    const before = await facts.find(slow, claims);
    expect(await facts.find(api.db, claims)).not.toEqual(before);
  });

  it('is rejected with 401 session_expired after it expires, and invalid_session if altered', async () => {
    const { token } = (await shop.mint()).body;
    const exp = nowSeconds() - 1;
    expect(codeOf(await files(sign({ ...claimsOf(token), exp })))).toBe('401 session_expired');
    const [prefix, kid, payload, mac = ''] = token.split('.');
    const wider = Buffer.from(JSON.stringify({ ...claimsOf(token), folder: '' })).toString(
      'base64url',
    );
    for (const forged of [
      `${prefix}.${kid}.${wider}x.${mac}`,
      `${prefix}.t9.${payload}.${mac}`,
      `${prefix}.${kid}.${payload}.${mac.slice(0, -2)}`,
      `${prefix}.${kid}.${payload}`,
      sign({ ...claimsOf(token), project_id: 'prj_none' }),
    ]) {
      expect(codeOf(await files(forged))).toBe('401 invalid_session');
    }
  });

  const asStaff = () => `/v1/staff/projects/${shop.project.project_slug}`;
  it.each<[string, (status: 'active' | 'suspended') => Promise<Answer>]>([
    ['its owner', (status) => owner('PATCH', shop.path, { status })],
    ['staff', (status) => staff('PATCH', asStaff(), { status })],
  ])(
    'is rejected with 403 project_suspended while its project is suspended by %s',
    async (_by, change) => {
      const { token } = (await shop.mint()).body;
      expect((await files(token)).status).toBe(200);
      await change('suspended');
      expect(codeOf(await files(token))).toBe('403 project_suspended');
      await change('active');
      expect((await files(token)).status).toBe(200);
    },
  );

  it('is accepted only on library routes, which accept no other credential', async () => {
    const { token } = (await shop.mint()).body;
    const call = withToken(api, token);
    for (const path of [`${shop.path}/files`, `${shop.path}/libraries`, '/v1/key', '/v1/me']) {
      expect(codeOf(await call('GET', path))).toBe('401 library_session_not_allowed');
    }
    expect(codeOf(await shop.key('GET', '/v1/library/files'))).toBe('401 unauthorized');
    expect(codeOf(await owner('GET', '/v1/library/files'))).toBe('401 unauthorized');
    expect(codeOf(await api.anonymous('GET', '/v1/library/files'))).toBe('401 unauthorized');
    const headers = { authorization: `Bearer ${token}`, 'x-api-key': 'nonsense' };
    expect(codeOf(await api.send({ path: '/v1/library/files', headers }))).toBe('401 unauthorized');
  });

  it('cannot be used across origins: library routes send no CORS headers, not even to a dashboard', async () => {
    const { token } = (await shop.mint()).body;
    api.change({ settings: { dashboardOrigins: [ORIGIN] } });
    const headers = { origin: ORIGIN, 'access-control-request-method': 'GET' };
    const preflight = await api.send({ method: 'OPTIONS', path: '/v1/library/files', headers });
    const answer = await api.send({
      path: '/v1/library/files',
      headers: { origin: ORIGIN, authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    for (const each of [preflight, answer]) {
      const names = Object.keys(each.headers);
      expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
    const elsewhere = await api.send({ method: 'OPTIONS', path: '/v1/me', headers });
    expect(elsewhere.headers['access-control-allow-origin']).toBe(ORIGIN);
  });
});
