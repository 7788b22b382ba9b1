// What all responses of the API have in common. Spec: Conventions; Envelope.
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { REQUEST_BODY_BYTES_MAX } from '../../../runtime/core/limits.ts';
import {
  type Caller,
  codeOf,
  createProject,
  newSubject,
  signatureOf,
} from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';

const api = useApi();
const subject = newSubject();
const owner: Caller = api.session(subject);
let path: string;

beforeAll(async () => {
  const { project_slug } = await createProject(owner);
  path = `/v1/projects/${project_slug}`;
});

/** Sends a signed PATCH with exactly these bytes. */
async function patchRaw(raw: Buffer | string, headers: Record<string, string> = {}) {
  const signature = signatureOf('PATCH', path, raw);
  const session = await api.sessionHeaders(subject);
  return api.send({
    method: 'PATCH',
    path,
    raw,
    headers: { ...session, ...signature, ...headers },
  });
}

describe('a second Authorization header', () => {
  it('is rejected with 401 unauthorized, whether one or both are valid', async () => {
    const token = (await api.sessionHeaders(subject))['authorization'] ?? '';
    expect(token).toMatch(/^Bearer /);
    const ask = (authorization: string | string[]) =>
      api.send({ path, headers: { ...headers, authorization } });
    const headers = await api.sessionHeaders(subject);
    expect((await ask(token)).status).toBe(200);
    for (const two of [
      [token, 'Bearer x'],
      ['Bearer x', token],
      [token, token],
    ]) {
      expect(codeOf(await ask(two))).toBe('401 unauthorized');
    }
  });
});

describe('an unknown path or method', () => {
  it('returns 404 not_found in the error envelope, signed in or not', async () => {
    for (const unknown of ['/v1', '/v1/nothing', '/v1/me/', '/V1/me', '/v1//me', '/healthz/x']) {
      expect(codeOf(await api.anonymous('GET', unknown)), unknown).toBe('404 not_found');
      expect(codeOf(await owner('GET', unknown)), unknown).toBe('404 not_found');
    }
  });

  it('returns 404 not_found for every undeclared method of every endpoint', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
    // `…/files/move` is the endpoint that moves files, and also the path of a file named `move`.
    const fileCalledMove = /(?<=\/files\/)move$/;
    const known = new Set(endpoints.map((each) => `${each.method} ${each.path}`));
    const wrong = endpoints.flatMap((each) =>
      methods
        .filter(
          (method) => !known.has(`${method} ${each.path.replace(fileCalledMove, '{fileSlug}')}`),
        )
        .filter((method) => !known.has(`${method} ${each.path}`))
        .map((method) => ({ method, path: each.path })),
    );
    expect(wrong.length).toBeGreaterThan(50);
    const preflighted = '/v1/public/access-requests';
    const unknown = wrong.filter((each) => each.method !== 'OPTIONS' || each.path !== preflighted);
    for (const { method, path: pattern } of unknown) {
      const answer = await api.send({ method, path: pattern.replaceAll(/\{\w+\}/g, 'x') });
      expect(codeOf(answer), `${method} ${pattern}`).toBe('404 not_found');
    }
  });

  it('returns 404 for a path with an invalid escape or a NUL', async () => {
    expect(codeOf(await owner('GET', '/v1/projects/%E0%A4'))).toBe('404 not_found');
    expect(codeOf(await owner('GET', '/v1/projects/%00'))).toBe('404 not_found');
    expect(codeOf(await owner('GET', `${path}/uploads/%00`))).toBe('404 upload_not_found');
    expect(codeOf(await owner('GET', `${path}/files/%00`))).toBe('404 file_not_found');
  });
});

describe('x-request-id', () => {
  const idFor = async (sent: string) =>
    (await api.send({ path: '/healthz', headers: { 'x-request-id': sent } })).headers[
      'x-request-id'
    ];

  it('is taken from the request if it is well-formed', async () => {
    for (const sent of ['12345678', 'a.B_c-D.9', 'x'.repeat(128)])
      expect(await idFor(sent)).toBe(sent);
  });

  it('is generated if it is malformed or missing', async () => {
    for (const sent of ['1234567', 'x'.repeat(129), 'with space', 'semi;colon', '']) {
      expect(await idFor(sent)).not.toBe(sent);
    }
    const first = await api.anonymous('GET', '/healthz');
    const second = await api.anonymous('GET', '/healthz');
    expect(first.headers['x-request-id']).not.toBe(second.headers['x-request-id']);
  });

  it('is logged with the route, status and error code of the response', async () => {
    await api.send({ path: '/v1/me', headers: { 'x-request-id': 'trace-me-1' } });
    await expect
      .poll(() => api.logged())
      .toContainEqual(
        expect.objectContaining({
          request_id: 'trace-me-1',
          route: '/v1/me',
          status: 401,
          code: 'unauthorized',
        }),
      );
  });

  it.each([
    ['/v1/projects/a-tenants-name', '/v1/projects/:slug'],
    ['/nowhere/a-tenants-name', 'none'],
  ])('is logged with the route pattern of %s, never with the path itself', async (path, route) => {
    await api.send({ path });
    await expect.poll(() => api.logged()).toContainEqual(expect.objectContaining({ route }));
    expect(JSON.stringify(api.logged())).not.toContain('a-tenants-name');
  });
});

describe('a request body', () => {
  it('is rejected with 400 invalid_json if it is not JSON in UTF-8', async () => {
    const wrong = [
      '{',
      '{"name":"x"',
      "{'name':'x'}",
      'name=x',
      ' ',
      '{"name":"x"}{}',
      '\u{FEFF}{"name":"x"}',
      Buffer.from([0x7b, 0x22, 0x6e, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]),
      Buffer.from('{"name":"x"}', 'utf16le'),
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    ];
    for (const raw of wrong)
      expect(codeOf(await patchRaw(raw)), raw.toString()).toBe('400 invalid_json');
  });

  it('is rejected with 400 invalid_json if it has a __proto__ key at any depth', async () => {
    expect(codeOf(await patchRaw('{"__proto__":{"status":"suspended"}}'))).toBe('400 invalid_json');
    const nested = '{"resolution_presets":{"__proto__":"resize/1x1"}}';
    expect(codeOf(await patchRaw(nested))).toBe('400 invalid_json');
  });

  it('is rejected with 400 invalid_json, naming the key, if a key occurs twice in one object', async () => {
    for (const raw of ['{"name":"x","name":"y"}', '{"name":"x","\\u006eame":"x"}']) {
      const answer = await patchRaw(raw);
      expect(codeOf(answer)).toBe('400 invalid_json');
      expect(answer.body.error.message).toContain('the key "name" occurs twice');
    }
    const chains = '{"a:b":"resize/1x1","c":"quality/5"}';
    const apart = `{"name":"{\\"name\\":1}","resolution_presets":${chains.replace('a:b', 'name')}}`;
    expect(codeOf(await patchRaw(apart))).toBe('200');
  });

  it('is rejected with 400 invalid_json if it is nested more than 64 levels deep', async () => {
    const nested = (depth: number) => `{"name":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(codeOf(await patchRaw(nested(63)))).toBe('400 invalid_request');
    expect(codeOf(await patchRaw(nested(64)))).toBe('400 invalid_json');
  });

  const fieldsOf = (count: number) =>
    `{${Array.from({ length: count }, (_, at) => `"field_${at}":1`).join()}}`;

  it.each([
    ['an object of 1,001 fields', fieldsOf(1001), 'expected at most 1000 fields in one object'],
    [
      'an object of 1,001 fields somewhere inside',
      `{"resolution_presets":[{"a":${fieldsOf(1001)}}]}`,
      'expected at most 1000 fields in one object',
    ],
    ['5,000 items', `{"name":[${'1,'.repeat(4999)}1]}`, 'expected at most 5000 values in all'],
    [
      'many empty lists',
      `{"name":[${'[],'.repeat(87_000)}[]]}`,
      'expected at most 5000 values in all',
    ],
  ])(
    'is rejected with 400 invalid_request and one short issue for %s',
    async (_what, raw, message) => {
      const answer = await patchRaw(raw);
      expect(codeOf(answer)).toBe('400 invalid_request');
      expect(answer.body.error.details.issues).toEqual([{ path: '', message }]);
    },
  );

  it('is rejected with 400 invalid_request if it is empty or not a JSON object', async () => {
    for (const raw of ['null', '[]', '"x"', '1', '']) {
      const answer = await patchRaw(raw);
      expect(codeOf(answer), raw).toBe('400 invalid_request');
      expect(answer.body.error.details.issues).toEqual([
        { path: '', message: expect.stringContaining('JSON object') },
      ]);
    }
  });

  it('is accepted up to 256 KiB; one more byte is rejected with 413 and max_bytes', async () => {
    const name = JSON.stringify({ name: 'Shop' });
    const full = name.padEnd(REQUEST_BODY_BYTES_MAX);
    expect(codeOf(await patchRaw(full))).toBe('200');
    const answer = await patchRaw(`${full} `);
    expect(codeOf(answer)).toBe('413 payload_too_large');
    expect(answer.body.error.details).toEqual({ max_bytes: 262_144 });
  });

  it('is subject to the same size limit when sent in chunks', async () => {
    const raw = 'x'.repeat(REQUEST_BODY_BYTES_MAX + 1);
    const answer = await patchRaw(raw, { 'transfer-encoding': 'chunked' });
    expect(codeOf(answer)).toBe('413 payload_too_large');
  });

  it('is rejected with a Content-Encoding other than identity, never decompressed', async () => {
    const raw = gzipSync('{"name":"Shop"}');
    const answer = await patchRaw(raw, { 'content-encoding': 'gzip' });
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(answer.body.error.message).toContain('Content-Encoding');
    expect(codeOf(await patchRaw('{"name":"Shop"}', { 'content-encoding': 'identity' }))).toBe(
      '200',
    );
  });

  it('is accepted whatever its Content-Type', async () => {
    expect(codeOf(await patchRaw('{"name":"Shop"}', { 'content-type': 'text/plain' }))).toBe('200');
  });

  it('may only be {} if the endpoint takes no body', async () => {
    const headers = await api.sessionHeaders(subject);
    expect(codeOf(await api.send({ path: '/v1/me', raw: '{}', headers }))).toBe('200');
    for (const raw of ['{"a":1}', '[]', 'null']) {
      expect(codeOf(await api.send({ path: '/v1/me', raw, headers }))).toBe('400 invalid_request');
    }
  });
});

describe('HEAD', () => {
  it('returns what GET returns, without the body', async () => {
    const headers = await api.sessionHeaders(subject);
    const got = await api.send({ path, headers });
    const head = await api.send({ method: 'HEAD', path, headers });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(got.headers['content-length']);
    expect((await api.send({ method: 'HEAD', path: '/healthz' })).status).toBe(200);
    expect((await api.send({ method: 'HEAD', path })).status).toBe(401);
  });
});

describe('security headers', () => {
  it('forbid scripts, framing, forms, referrers and MIME sniffing on successes and errors alike', async () => {
    for (const where of ['/healthz', '/v1/me', '/nowhere']) {
      expect((await api.send({ path: where })).headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
    }
  });
});

describe('an internal error', () => {
  it('returns 500 internal, with its cause in the log but not in the response', async () => {
    const clock = {
      now: () => {
        throw new Error('the very secret cause');
      },
    };
    api.change({ clock });
    const answer = await api.session(newSubject())('GET', '/v1/me');
    expect(codeOf(answer)).toBe('500 internal');
    expect(Object.keys(answer.body.error)).toEqual(['code', 'message']);
    expect(answer.text).not.toContain('secret cause');
    const line = api.logged().find(({ level }) => level === 'error');
    expect(line).toMatchObject({
      code: 'internal',
      request_id: answer.headers['x-request-id'],
      error: { message: 'the very secret cause', stack: expect.stringContaining('http.test.ts') },
    });
  });

  it('returns 500 internal when the cursor keys are missing', async () => {
    api.change({ cursorKeys: undefined as unknown as Uint8Array[] });
    expect(codeOf(await owner('GET', '/v1/projects?cursor=abc'))).toBe('500 internal');
  });
});

describe('CORS for the dashboard', () => {
  const origin = 'https://app.example';
  const preflight = (path: string, from: string) =>
    api.send({
      method: 'OPTIONS',
      path,
      headers: { origin: from, 'access-control-request-method': 'PATCH' },
    });

  it('lets a configured origin send and read the headers it needs', async () => {
    api.change({ settings: { dashboardOrigins: [origin] } });
    const asked = await preflight('/v1/projects/shop', origin);
    expect(asked.status).toBe(204);
    expect(asked.headers['access-control-allow-origin']).toBe(origin);
    expect(asked.headers['access-control-allow-methods']).toContain('PATCH');
    const allowed = ['authorization', 'content-type', 'idempotency-key', 'if-match'];
    const signed = ['x-identity-user-id', 'x-request-id', 'x-request-signature'];
    const names = asked.headers['access-control-allow-headers']?.split(',');
    expect(names).toEqual(expect.arrayContaining([...allowed, ...signed]));
    expect(asked.headers['access-control-allow-credentials']).toBeUndefined();
    const answer = await api.send({ path: '/v1/me', headers: { origin } });
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    const shown = answer.headers['access-control-expose-headers']?.split(',');
    expect(shown).toEqual(['etag', 'link', 'retry-after', 'x-request-id']);
    expect(answer.headers.vary).toContain('Origin');
  });

  it('allows no other origin', async () => {
    api.change({ settings: { dashboardOrigins: [origin] } });
    for (const from of ['https://evil.example', `${origin}.evil.example`, 'null']) {
      const asked = await preflight('/v1/me', from);
      expect(asked.headers['access-control-allow-origin']).toBeUndefined();
      const answer = await api.send({ path: '/v1/me', headers: { origin: from } });
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
    api.change({});
    expect((await preflight('/v1/me', origin)).status).toBe(404);
  });
});

describe('an error response', () => {
  it('links to the page that explains its code', async () => {
    const { headers } = await api.anonymous('GET', '/v1/me');
    expect(headers.link).toMatch(/^<http.*\/docs\/errors\/unauthorized>; rel="help"$/);
  });
});
