// Authorization: every endpoint against every kind of caller. Spec: Authentication; Conventions.
import { beforeAll, describe, expect, it } from 'vitest';
import { inboundCredential } from '../../../runtime/api/auth/inbound-signature.ts';
import { tokenCredential } from '../../../runtime/api/auth/principal.ts';
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { apiKeyScopes } from '../../../runtime/core/scopes.ts';
import {
  type Answer,
  codeOf,
  createKey,
  createProject,
  newSubject,
  signatureOf,
} from '../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../support/api-server.ts';
import { ORIGIN, usualInput } from '../../support/library-sessions.ts';
import { makeFile, makeUpload } from '../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
/** A project of another organization, and its key. */
const theirs = { slug: '', key: '' };
const recipe = { name: 'it', transform_chain: 'quality/50' };
const ours = {
  slug: '',
  key: '',
  upload: '',
  preset: '',
  recipe: '',
  webhook: '',
  file: 'ours.png',
  drawn: 'drawn.png',
  deleted: 'deleted.png',
  library: 'press',
  emptyLibrary: 'empty',
  other: { slug: '', key: '' },
  /** A suspended project, and a key made before the suspension. */
  suspended: { slug: '', key: '' },
  /** The project that the DELETE call deletes. */
  doomed: '',
  keyId: '',
};

beforeAll(async () => {
  const project = await createProject(owner);
  ours.slug = project.project_slug;
  ours.doomed = (await createProject(owner)).project_slug;
  ours.key = await createKey(owner, ours.slug);
  const spare = { name: 'spare' };
  ours.keyId = (await owner('POST', `/v1/projects/${ours.slug}/keys`, spare)).body.id;
  ours.upload = (await makeUpload(api.db, project)).upload_id;
  for (const file_slug of [ours.file, ours.deleted]) await makeFile(api.db, project, { file_slug });
  await makeFile(api.db, project, { file_slug: ours.drawn });
  const path = `/v1/projects/${ours.slug}`;
  const body = { name: 'drawn', file_slug: ours.drawn };
  ours.recipe = (await owner('PUT', `${path}/recipes`, recipe)).body.id;
  ours.preset = (await owner('PUT', `${path}/watermark-presets`, body)).body.id;
  await owner('PATCH', path, { default_watermark_preset_id: ours.preset });
  await owner('PATCH', path, { callback_url: 'https://1.1.1.1/hook' });
  ours.webhook = (await owner('POST', `${path}/webhook-test`)).body.id;
  for (const name of [ours.library, ours.emptyLibrary]) {
    const library = { slug: name, name, allowed_origins: [ORIGIN] };
    await owner('POST', `${path}/libraries`, library);
  }
  ours.other.slug = (await createProject(owner)).project_slug;
  ours.other.key = await createKey(owner, ours.other.slug);
  ours.suspended.slug = (await createProject(owner)).project_slug;
  ours.suspended.key = await createKey(owner, ours.suspended.slug);
  await owner('PATCH', `/v1/projects/${ours.suspended.slug}`, { status: 'suspended' });
  const stranger = api.session(newSubject());
  theirs.slug = (await createProject(stranger)).project_slug;
  theirs.key = await createKey(stranger, theirs.slug);
});

/** Bodies of valid calls; endpoints that are not listed take none. */
const bodies: Record<string, () => unknown> = {
  'POST /v1/projects': () => ({ project_slug: newSubject().replace('_', '-') }),
  'PATCH /v1/projects/{slug}': () => ({ name: 'Shop' }),
  'POST /v1/projects/{slug}/keys': () => ({ name: 'server' }),
  'POST /v1/projects/{slug}/signed-url': () => ({ file_slug: ours.file }),
  'PUT /v1/projects/{slug}/watermark-presets': () => ({
    name: newSubject(),
    file_slug: ours.drawn,
  }),
  'PUT /v1/projects/{slug}/watermark-presets/{id}': () => ({ name: 'it', file_slug: ours.drawn }),
  'PUT /v1/projects/{slug}/recipes': () => ({ ...recipe, name: newSubject() }),
  'PUT /v1/projects/{slug}/recipes/{id}': () => recipe,
  'PATCH /v1/projects/{slug}/files/{fileSlug}': () => ({ title: 'Ours' }),
  'POST /v1/projects/{slug}/files/{fileSlug}/moderation-notes': () => ({ note: 'look' }),
  'POST /v1/projects/{slug}/files/move': () => ({ file_slugs: [ours.file], folder: 'a' }),
  'POST /v1/projects/{slug}/libraries': () => ({ slug: newSubject(), name: 'it' }),
  'PATCH /v1/projects/{slug}/libraries/{lib}': () => ({ name: 'it' }),
  'POST /v1/projects/{slug}/library-sessions': () => usualInput,
  'POST /v1/projects/{slug}/library-sessions/revoke': () => ({ subject: 'nobody' }),
  'POST /v1/public/access-requests': () => ({ email: 'ada@example.com' }),
  'POST /v1/projects/{slug}/uploads': () => ({ content_type: 'image/png', size_bytes: 1 }),
};

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`;
const bodyOf = (endpoint: Endpoint) => bodies[nameOf(endpoint)]?.();

function pathOf({ method, path }: Endpoint, slug: string): string {
  if (method === 'DELETE' && path === '/v1/projects/{slug}')
    return path.replace('{slug}', slug === ours.slug ? ours.doomed : slug);
  const file = method === 'DELETE' ? ours.deleted : ours.file;
  const lib = method === 'DELETE' ? ours.emptyLibrary : ours.library;
  const id = idOf({ method, path });
  const of = { slug, id, lib, fileSlug: file, keyId: ours.keyId, file: 'picker.js' };
  return Object.entries(of).reduce((text, [name, word]) => text.replace(`{${name}}`, word), path);
}

function idOf({ method, path }: Pick<Endpoint, 'method' | 'path'>): string {
  if (path.includes('/watermark-presets/')) return ours.preset;
  if (path.includes('/webhook-deliveries/')) return ours.webhook;
  return recipeOr(ours.upload, { method, path });
}

/** DELETE uses an unknown recipe, which is 204, too: the real one is for the other calls. */
function recipeOr(other: string, { method, path }: Pick<Endpoint, 'method' | 'path'>): string {
  if (!path.includes('/recipes/')) return other;
  return method === 'DELETE' ? 'rcp_none' : ours.recipe;
}

const isWrite = ({ method }: Endpoint) => method !== 'GET';
/** Endpoints for sessions, keys and staff. The others are public, or have a token or signature. */
const guarded = endpoints.filter(
  ({ auth }) =>
    !auth.includes('none') &&
    !auth.includes('embed_url_signature') &&
    tokenCredential(auth) === undefined &&
    inboundCredential(auth) === undefined,
);
const forSessions = guarded.filter(({ auth }) => auth.includes('dash'));
const forKeys = guarded.filter(({ auth }) => auth.some((each) => each.startsWith('key')));
const scoped = forKeys.filter(({ auth }) => !auth.includes('key'));
const ofProjects = guarded.filter(({ path }) => path.includes('{slug}'));

/**
 * The caller is authorized if the call succeeds, or fails with a code about the state of the
 * resources: such as an upload without bytes, a name that is taken, a deleted library, or a key
 * that lacks the scope of the library session.
 */
function isLetIn(answer: Answer): boolean {
  return answer.status < 300 || OF_THE_ROWS.includes(codeOf(answer));
}

const OF_THE_ROWS = [
  '409 api_key_revoked',
  '409 ingest_object_missing',
  '400 not_multipart',
  '410 upload_expired',
  '409 default_watermark_in_use',
  '409 watermark_preset_name_taken',
  '409 recipe_name_taken',
  '409 no_subscription',
  '409 library_slug_taken',
  '403 scope_missing',
  '404 library_not_found',
];

describe.each(endpoints.filter(({ auth }) => auth.includes('none')))(
  '$method $path',
  (endpoint) => {
    it('succeeds without a credential and with an invalid one', async () => {
      const { method, ok } = endpoint;
      const path = pathOf(endpoint, ours.slug);
      const body = bodyOf(endpoint);
      expect((await api.anonymous(method, path, body)).status).toBe(ok);
      expect((await api.withKey('nonsense')(method, path, body)).status).toBe(ok);
      const headers = { authorization: 'Bearer ls1.kid.payload.mac' };
      expect((await api.send({ method, path, body, headers })).status).toBe(ok);
    });
  },
);

describe.each(endpoints.filter(({ auth }) => tokenCredential(auth) !== undefined))(
  '$method $path',
  (endpoint) => {
    it('returns 401 unauthorized to other callers, and invalid_session for an invalid session token', async () => {
      const { method } = endpoint;
      const path = pathOf(endpoint, ours.slug);
      const callers = [api.anonymous, owner, api.session(STAFF_SUBJECT), api.withKey(ours.key)];
      for (const call of callers) {
        expect(codeOf(await call(method, path))).toBe('401 unauthorized');
      }
      const headers = { authorization: 'Bearer ls1.kid.payload.mac' };
      expect(codeOf(await api.send({ method, path, headers }))).toBe('401 invalid_session');
    });
  },
);

describe.each(guarded)('$method $path', (endpoint) => {
  const { method } = endpoint;

  it('returns 401 for a missing or malformed credential and for a library session token', async () => {
    const path = pathOf(endpoint, ours.slug);
    const body = bodyOf(endpoint);
    expect(codeOf(await api.anonymous(method, path, body))).toBe('401 unauthorized');
    const wrong: Record<string, string>[] = [
      { authorization: 'Bearer ' },
      { authorization: `Basic ${ours.key}` },
      { authorization: 'Bearer abc.def.ghi' },
      { authorization: `Bearer ${ours.key}0` },
      { 'x-api-key': `${ours.key.slice(0, -1)}x` },
      { 'x-api-key': '' },
    ];
    for (const headers of wrong) {
      expect(codeOf(await api.send({ method, path, body, headers }))).toBe('401 unauthorized');
    }
    const library = { authorization: 'Bearer ls1.kid.payload.mac' };
    expect(codeOf(await api.send({ method, path, body, headers: library }))).toBe(
      '401 library_session_not_allowed',
    );
  });

  it('returns 401 unauthorized for an invalid body from an unauthenticated caller', async () => {
    const path = pathOf(endpoint, ours.slug);
    expect(codeOf(await api.send({ method, path, raw: '{' }))).toBe('401 unauthorized');
  });
});

describe.each(forSessions)('$method $path', (endpoint) => {
  const { method } = endpoint;

  it('accepts a browser session, and requires a request signature for writes', async () => {
    const path = pathOf(endpoint, ours.slug);
    const body = bodyOf(endpoint);
    const answer = await owner(method, path, body);
    expect(isLetIn(answer), answer.text).toBe(true);
    const headers = await api.sessionHeaders(subject);
    const unsigned = await api.send({ method, path, body, headers });
    if (isWrite(endpoint)) expect(codeOf(unsigned)).toBe('401 invalid_request_signature');
    else expect(unsigned.status).toBe(200);
  });

  it('returns 401 unauthorized unless x-identity-user-id equals the token’s sub', async () => {
    const path = pathOf(endpoint, ours.slug);
    const { authorization } = await api.sessionHeaders(subject);
    const signature = signatureOf(method, path, '');
    for (const id of [undefined, 'somebody-else', subject.toUpperCase()]) {
      const headers = { authorization, ...signature, ...(id ? { 'x-identity-user-id': id } : {}) };
      expect(codeOf(await api.send({ method, path, headers }))).toBe('401 unauthorized');
    }
  });
});

describe.each(guarded.filter((each) => !forSessions.includes(each)))(
  '$method $path',
  (endpoint) => {
    it('returns 403 to a non-staff session: staff_only on staff routes, otherwise api_key_required', async () => {
      const answer = await owner(endpoint.method, pathOf(endpoint, ours.slug), bodyOf(endpoint));
      const code = endpoint.auth.includes('staff') ? 'staff_only' : 'api_key_required';
      expect(codeOf(answer)).toBe(`403 ${code}`);
    });
  },
);

describe.each(guarded.filter((each) => !forKeys.includes(each)))('$method $path', (endpoint) => {
  it('returns 403 browser_session_required to an API key', async () => {
    const call = api.withKey(ours.key);
    const answer = await call(endpoint.method, pathOf(endpoint, ours.slug), bodyOf(endpoint));
    expect(codeOf(answer)).toBe('403 browser_session_required');
  });
});

describe.each(forKeys)('$method $path', (endpoint) => {
  it('accepts an API key in either header, and prefers X-Api-Key when both are sent', async () => {
    const { method } = endpoint;
    const sent = { method, path: pathOf(endpoint, ours.slug), body: bodyOf(endpoint) };
    const [good, bad] = [ours.key, `tin_live_${'0'.repeat(36)}`];
    const isGood = async (headers: Record<string, string>) => {
      const answer = await api.send({ ...sent, headers });
      return isLetIn(answer) || codeOf(answer);
    };
    expect(await isGood({ authorization: `Bearer ${good}` })).toBe(true);
    expect(await isGood({ 'x-api-key': good })).toBe(true);
    expect(await isGood({ 'x-api-key': good, authorization: `Bearer ${bad}` })).toBe(true);
    expect(await isGood({ 'x-api-key': bad, authorization: `Bearer ${good}` })).toBe(
      '401 unauthorized',
    );
    const session = await api.sessionHeaders(subject);
    expect(await isGood({ ...session, 'x-api-key': good })).toBe(true);
  });
});

describe.each(scoped)('$method $path', (endpoint) => {
  it('requires exactly one scope, and returns 403 forbidden to a key with all the others', async () => {
    const needed = apiKeyScopes.filter((scope) => endpoint.auth.includes(`key:${scope}`));
    const others = apiKeyScopes.filter((scope) => !needed.includes(scope));
    const call = async (scopes: readonly string[]) => {
      const key = await createKey(owner, ours.slug, scopes);
      const path = pathOf(endpoint, ours.slug);
      return api.withKey(key)(endpoint.method, path, bodyOf(endpoint));
    };
    expect(needed).toHaveLength(1);
    expect(codeOf(await call(others))).toBe('403 forbidden');
    const answer = await call(needed);
    expect(isLetIn(answer), answer.text).toBe(true);
  });
});

describe.each(ofProjects)('$method $path', (endpoint) => {
  it('returns the same 404 for another organization’s project as for a nonexistent one', async () => {
    const { method } = endpoint;
    const body = bodyOf(endpoint);
    const callers = [
      ...(forSessions.includes(endpoint) ? [owner] : []),
      ...(forKeys.includes(endpoint) ? [api.withKey(ours.key)] : []),
    ];
    for (const call of callers) {
      const real = await call(method, pathOf(endpoint, theirs.slug), body);
      const missing = await call(method, pathOf(endpoint, 'never-made'), body);
      expect(codeOf(real)).toBe('404 not_found');
      expect(comparable(real)).toEqual(comparable(missing));
    }
  });

  it('returns 404 for another organization’s project before it validates the body', async () => {
    if (!forSessions.includes(endpoint)) return;
    const answer = await owner(endpoint.method, pathOf(endpoint, theirs.slug), { nonsense: 1 });
    expect(codeOf(answer)).toBe('404 not_found');
  });
});

describe.each(ofProjects.filter((each) => forKeys.includes(each)))('$method $path', (endpoint) => {
  it('returns the same 404 for another project of the key’s organization as for a nonexistent one', async () => {
    const { method } = endpoint;
    const call = api.withKey(ours.other.key);
    const real = await call(method, pathOf(endpoint, ours.slug), bodyOf(endpoint));
    const missing = await call(method, pathOf(endpoint, 'never-made'), bodyOf(endpoint));
    expect(codeOf(real)).toBe('404 not_found');
    expect(comparable(real)).toEqual(comparable(missing));
  });
});

describe.each(forKeys)('$method $path', (endpoint) => {
  it('answers the key of a suspended project with the same 401 as an unknown key', async () => {
    const { method } = endpoint;
    const path = pathOf(endpoint, ours.suspended.slug);
    const real = await api.withKey(ours.suspended.key)(method, path, bodyOf(endpoint));
    const none = await api.withKey(`tin_live_${'0'.repeat(36)}`)(method, path, bodyOf(endpoint));
    expect(codeOf(real)).toBe('401 unauthorized');
    expect(comparable(real)).toEqual(comparable(none));
  });
});

/** Staff have access to other organizations' projects only at endpoints that allow any project. */
describe.each(ofProjects.filter((each) => forSessions.includes(each)))(
  '$method $path',
  (endpoint) => {
    it('lets staff into other organizations’ projects only if declared so and the staff API is enabled', async () => {
      const { method } = endpoint;
      const staff = api.session(STAFF_SUBJECT);
      const path = pathOf(endpoint, theirs.slug);
      const answer = await staff(method, path, bodyOf(endpoint));
      if (endpoint.projects === 'own') expect(codeOf(answer)).toBe('404 not_found');
      else expect(isLetIn(answer), answer.text).toBe(true);
      api.change({ staff: { is_enabled: false, subjects: [STAFF_SUBJECT] } });
      expect(codeOf(await staff(method, path, bodyOf(endpoint)))).toBe('404 not_found');
    });
  },
);

function comparable({ status, headers, text }: Answer) {
  const { date: _date, 'x-request-id': _id, ...rest } = headers;
  return { status, text, rest };
}
