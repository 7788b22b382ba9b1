// Spec: Endpoints, Conventions; Signing keys and signed URLs. Which calls the API client retries, and how often it
// mints signed URLs, against a server with scripted responses.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ApiClient,
  type ApiClientOptions,
  createApiClient,
  signedUrls,
} from '../../../../runtime/sdk/server/sdk.ts';
import { closeHttp } from '../../../support/close-http.ts';

type Seen = { method: string; url: string; headers: IncomingHttpHeaders; body: string };
type Scripted =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  | 'broken'
  | 'torn';

const seen: Seen[] = [];
/** Scripted responses, in order; further requests get a new URL each. */
const script: Scripted[] = [];
const server = createServer(async (request, response) => {
  const { method = '', url = '', headers } = request;
  seen.push({ method, url, headers, body: await text(request) });
  const next = script.shift() ?? { status: 200, body: { url: `https://a.example/${seen.length}` } };
  if (next === 'broken') request.socket.destroy();
  else if (next === 'torn') response.writeHead(200).write('{', () => response.destroy());
  else response.writeHead(next.status, next.headers).end(JSON.stringify(next.body ?? {}));
});
let api: ApiClient;
let url = '';

beforeAll(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
  api = createApiClient({ url, apiKey: 'tin_live_x' });
});
afterAll(() => closeHttp(server));
beforeEach(() => {
  seen.length = 0;
  script.length = 0;
});

const refusal = (status: number, code: string, headers = {}): Scripted => ({
  status,
  headers: { 'x-request-id': 'request-1', ...headers },
  body: { error: { code, message: 'No.', details: { issues: [] } } },
});
const mint = (client = api) =>
  client.call('POST /v1/projects/{slug}/signed-url', {
    path: { slug: 'shop' },
    body: { file_slug: 'a.jpg' },
  });

describe('the API client', () => {
  it.each([
    [
      { url: 'localhost:8080' },
      /^url is 'localhost:8080', which is not an http\(s\) URL: use one such as http/,
    ],
    [{ url: undefined }, /^url is 'undefined', which is not an http\(s\) URL/],
    [
      { url: 'tin_live_secret' },
      /^url is an API key, which is not an http\(s\) URL: use one such as http[^']*$/,
    ],
    [{ apiKey: undefined }, /^apiKey is not a key: pass the whole key/],
    [{ apiKey: '' }, /^apiKey is not a key/],
    [{ apiKey: 'tin_live_…' }, /^apiKey is not a key/],
  ])('explains what is wrong with the options %j, and sends nothing', async (part, says) => {
    const options = { url, apiKey: 'tin_live_x', ...part } as ApiClientOptions;
    const called = createApiClient(options).call('GET /v1/key');
    await expect(called).rejects.toThrow(expect.objectContaining({ name: 'TypeError' }));
    await expect(called).rejects.toThrow(says);
    expect(seen).toEqual([]);
  });

  it.each(['/v1/key', 'GET', undefined])(
    'rejects %j, which is not an operation, without sending anything',
    async (name) => {
      const called = api.call(name as 'GET /v1/key');
      await expect(called).rejects.toThrow(
        new TypeError(
          `'${name}' is not an operation: write its method and its path, such as GET /v1/projects/{slug}/files`,
        ),
      );
      expect(seen).toEqual([]);
    },
  );

  it('accepts a key with a line break at its end, as read from a file', async () => {
    await createApiClient({ url, apiKey: 'tin_live_x\n' }).call('GET /v1/key');
    expect(seen.map(({ headers }) => headers['x-api-key'])).toEqual(['tin_live_x']);
  });

  it('encodes path and query, and sends the key', async () => {
    await api.call('GET /v1/projects/{slug}/files', {
      path: { slug: 'a/b' },
      query: { q: 'ü&', limit: 5 },
    });
    expect(seen[0]).toMatchObject({
      method: 'GET',
      url: '/v1/projects/a%2Fb/files?q=%C3%BC%26&limit=5',
    });
    expect(seen[0]?.headers).toMatchObject({ 'x-api-key': 'tin_live_x' });
    expect(seen[0]?.headers['idempotency-key']).toBeUndefined();
  });

  it.each(['.', '..', ''])(
    'rejects the path segment %j, which would lead to another resource',
    async (fileSlug) => {
      const path = { slug: 'shop', fileSlug };
      const deleting = api.call('DELETE /v1/projects/{slug}/files/{fileSlug}', { path });
      await expect(deleting).rejects.toThrow('path.fileSlug');
      expect(seen).toEqual([]);
    },
  );

  it('retries failed requests with the same idempotency key', async () => {
    script.push(
      'broken',
      refusal(503, 'storage_unavailable'),
      refusal(429, 'rate_limited', { 'retry-after': '0' }),
    );
    expect(await mint()).toEqual({ url: 'https://a.example/4' });
    const keys = new Set(seen.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });

  it('waits for an earlier try in progress without counting it as a failure', async () => {
    const waits = refusal(409, 'idempotency_in_progress', { 'retry-after': '0' });
    script.push('broken', ...Array.from({ length: 20 }, () => waits));
    script.push(refusal(503, 'storage_unavailable'), waits);
    expect(await mint()).toEqual({ url: 'https://a.example/24' });
    const impatient = createApiClient({ url, apiKey: 'tin_live_x', retries: 0 });
    script.push(waits);
    await expect(mint(impatient)).rejects.toMatchObject({ code: 'idempotency_in_progress' });
  });

  it('stops waiting for an earlier try once the key of a killed one is free', async () => {
    const waits = refusal(409, 'idempotency_in_progress', { 'retry-after': '0' });
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const slow: typeof fetch = (...asked) => {
      now += 10_000;
      return fetch(...asked);
    };
    try {
      script.push(...Array.from({ length: 30 }, () => waits));
      const patient = createApiClient({ url, apiKey: 'tin_live_x', fetch: slow, retries: 1 });
      await expect(mint(patient)).rejects.toMatchObject({ code: 'idempotency_in_progress' });
      // Refused at 0 to 70 seconds without counting, then once retried.
      expect(seen).toHaveLength(8 + 2);
    } finally {
      clock.mockRestore();
    }
  });

  it('retries a request whose response breaks off', async () => {
    script.push('torn');
    expect(await mint()).toEqual({ url: 'https://a.example/2' });
  });

  it('retries the creation of a preset without an id only after 429', async () => {
    const put = () =>
      api.call('PUT /v1/projects/{slug}/watermark-presets', {
        path: { slug: 'shop' },
        body: { name: 'logo', file_slug: 'logo.png' },
      });
    script.push('broken');
    await expect(put()).rejects.toMatchObject({ code: 'api_unreachable' });
    script.push(refusal(503, 'storage_unavailable'));
    await expect(put()).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(2);
    // A rate-limited request changed nothing, so a retry is safe.
    script.push(refusal(429, 'rate_limited', { 'retry-after': '0' }));
    await put();
    expect(seen).toHaveLength(4);
  });

  const deletions = {
    library: () =>
      api.call('DELETE /v1/projects/{slug}/libraries/{lib}', {
        path: { slug: 'shop', lib: 'press' },
      }),
    preset: () =>
      api.call('DELETE /v1/projects/{slug}/watermark-presets/{id}', {
        path: { slug: 'shop', id: 'wm_a' },
      }),
    file: () =>
      api.call('DELETE /v1/projects/{slug}/files/{fileSlug}', {
        path: { slug: 'shop', fileSlug: 'a.jpg' },
      }),
  };

  it.each([
    ['library', deletions.library, 'library_not_found'],
    ['preset', deletions.preset, 'not_found'],
  ])(
    'treats a missing %s as deleted only if an earlier attempt may have deleted it',
    async (_what, remove, code) => {
      const lost: Scripted[] = ['broken', refusal(502, 'internal')];
      for (const first of lost) {
        script.push(first, refusal(404, code));
        expect(await remove()).toBeUndefined();
      }
      script.push(refusal(404, code));
      await expect(remove()).rejects.toMatchObject({ code });
      // A rate-limited request deleted nothing.
      script.push(refusal(429, 'rate_limited', { 'retry-after': '0' }), refusal(404, code));
      await expect(remove()).rejects.toMatchObject({ code });
      // A 404 without an error code comes from a proxy, not from the service.
      script.push('broken', { status: 404 });
      await expect(remove()).rejects.toMatchObject({ code: 'invalid_response' });
    },
  );

  it.each([
    ['whose port is closed', 'http://127.0.0.1:3'],
    ['whose name is not known', 'http://service.invalid'],
  ])('reports not_found if the earlier request never reached a service %s', async (_what, away) => {
    let isFirst = true;
    const arriving: typeof fetch = (target, init) => {
      const to = isFirst ? away : target;
      isFirst = false;
      return fetch(to, init);
    };
    const late = createApiClient({ url, apiKey: 'tin_live_x', fetch: arriving });
    script.push(refusal(404, 'not_found'));
    const path = { slug: 'shop', id: 'wm_a' };
    const removing = late.call('DELETE /v1/projects/{slug}/watermark-presets/{id}', { path });
    await expect(removing).rejects.toMatchObject({ code: 'not_found' });
    expect(seen).toHaveLength(1);
  });

  it('reports file_not_found even after a failed attempt', async () => {
    script.push(refusal(503, 'storage_unavailable'), refusal(404, 'file_not_found'));
    await expect(deletions.file()).rejects.toMatchObject({ code: 'file_not_found' });
    script.push('broken', { status: 204 });
    expect(await deletions.file()).toBeUndefined();
    // For calls other than DELETE, a 404 after a lost response is a plain error.
    script.push('broken', refusal(404, 'file_not_found'));
    await expect(mint()).rejects.toMatchObject({ code: 'file_not_found' });
  });

  it('stops waiting when its caller aborts, with the caller’s reason', async () => {
    const caller = new AbortController();
    const gone = new Error('gone');
    const leaving: typeof fetch = async (...asked) => {
      const answer = await fetch(...asked);
      setImmediate(() => caller.abort(gone));
      return answer;
    };
    script.push(refusal(503, 'storage_unavailable', { 'retry-after': '30' }));
    const impatient = createApiClient({ url, apiKey: 'tin_live_x', fetch: leaving });
    const asked = impatient.call('GET /v1/key', { signal: caller.signal });
    await expect(asked).rejects.toBe(gone);
    expect(seen).toHaveLength(1);
  });

  it('reports a refusal immediately, with everything that the service said', async () => {
    script.push(refusal(400, 'invalid_request'));
    await expect(mint()).rejects.toMatchObject({
      name: 'ApiError',
      status: 400,
      code: 'invalid_request',
      details: { issues: [] },
      request_id: 'request-1',
    });
    expect(seen).toHaveLength(1);
  });

  it('does not wait longer than a minute after 429', async () => {
    script.push(refusal(429, 'rate_limited', { 'retry-after': '61' }));
    await expect(mint()).rejects.toMatchObject({ status: 429, retry_after_seconds: 61 });
    expect(seen).toHaveLength(1);
  });
});

describe('signed URLs', () => {
  it('are minted once for concurrent and later callers, and again for another image', async () => {
    const urls = signedUrls({ api, project: 'shop' });
    const [one, same] = await Promise.all([
      urls.derived('a.jpg', { resize: { width: 320 }, format: 'webp' }),
      urls.derived('a.jpg', { format: 'webp', resize: { width: 320 } }),
    ]);
    expect(same).toBe(one);
    expect(await urls.derived('a.jpg', { resize: { width: 320 }, format: 'webp' })).toBe(one);
    expect(await urls.original('a.jpg')).not.toBe(one);
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual([
      {
        file_slug: 'a.jpg',
        kind: 'derived',
        transform_chain: 'resize/320x/format/webp',
        expires_in_seconds: 3600,
      },
      { file_slug: 'a.jpg', kind: 'originals', expires_in_seconds: 3600 },
    ]);
  });

  it('are reused for half an hour by a wrong clock, and minted again after it is set back', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 10 * 60_000 });
    try {
      const urls = signedUrls({ api, project: 'shop' });
      const first = await urls.original('a.jpg');
      vi.setSystemTime(Date.now() + 29 * 60_000);
      expect(await urls.original('a.jpg')).toBe(first);
      vi.setSystemTime(Date.now() - 3_600_000);
      expect(await urls.original('a.jpg')).not.toBe(first);
    } finally {
      vi.useRealTimers();
    }
  });

  it('are minted again after a refusal, and after they were dropped for newer ones', async () => {
    const urls = signedUrls({ api, project: 'shop', kept: 1 });
    script.push(refusal(404, 'file_not_found'));
    await expect(urls.raw('a.jpg')).rejects.toMatchObject({ code: 'file_not_found' });
    const first = await urls.raw('a.jpg');
    await urls.raw('b.jpg');
    expect(await urls.raw('a.jpg')).not.toBe(first);
    expect(seen).toHaveLength(4);
  });
});
