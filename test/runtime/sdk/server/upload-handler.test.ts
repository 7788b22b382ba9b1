// Spec: Upload helper codes. The upload helper on a customer's server, against a real Tintype, with every code of the
// table.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  createUploadHandler,
  expressHandler,
  nextHandlers,
  UploadRefusal,
  uploadRoute,
} from '../../../../runtime/sdk/server/sdk.ts';
import { takeTintype, type UsedTintype } from '../../../contract/support/shared-tintype.ts';
import { lapseSession, lapseToken } from '../../../support/lapsed-upload.ts';
import { over, photograph } from '../../../support/pictures.ts';

let tintype: UsedTintype;
let picture: Buffer;
const completed: unknown[] = [];
const errors: unknown[] = [];

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON responses; each test asserts their shape.
type Json = any;

beforeAll(async () => {
  tintype = await takeTintype();
  picture = await over(photograph(64, 48)).jpeg().toBuffer();
}, 300_000);
afterAll(() => tintype?.stop());

beforeEach(() => {
  completed.length = 0;
  errors.length = 0;
});
afterEach(() => void vi.useRealTimers());

/** Moves the clock of the handler's server forward. */
function setClockAhead(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

const avatar = uploadRoute({
  accept: { 'image/jpeg': { maxSize: '1MB', maxCount: 1 }, 'image/png': {} },
  input: z.object({ album: z.string() }),
  middleware: ({ request, input }) => {
    const user = request.headers.get('x-user');
    if (user === null) throw new UploadRefusal({ status: 401, code: 'sign_in', message: 'Who?' });
    if (user === 'banned') throw new UploadRefusal();
    if (user === 'broken') throw new TypeError('the session store is gone');
    return { user, album: input.album };
  },
  onUploadComplete: ({ metadata, file }) => {
    if (metadata.album === 'bad') throw new Error('the row was not written');
    completed.push({ metadata, slug: file.file_slug });
    return { saved_for: metadata.user };
  },
});
const large = uploadRoute({ accept: { 'image/*': {} } });
const router = { avatar, large };

const makeHandler = (over: Partial<Parameters<typeof createUploadHandler>[0]> = {}) =>
  createUploadHandler({
    router,
    url: tintype.instance.api_url,
    apiKey: tintype.instance.api_key,
    project: tintype.instance.project_slug,
    onError: (error) => errors.push(error),
    ...over,
  });

async function post(
  body: object,
  { user = 'ada', handler = makeHandler() }: { user?: string; handler?: typeof anyHandler } = {},
) {
  const headers = {
    'content-type': 'application/json',
    ...(user === '' ? {} : { 'x-user': user }),
  };
  const request = new Request('https://shop.example/upload', {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const answer = await handler(request);
  return { status: answer.status, body: (await answer.json()) as Json };
}
declare const anyHandler: ReturnType<typeof createUploadHandler>;

const file = (more: object = {}) => ({
  name: 'me.jpg',
  content_type: 'image/jpeg',
  size_bytes: picture.length,
  ...more,
});
const prepare = (more: object = {}) => ({
  action: 'prepare',
  route: 'avatar',
  file: file(),
  input: { album: 'faces' },
  ...more,
});
const refusal = (status: number, code: string, details?: object) => ({
  status,
  body: { error: { code, ...(details === undefined ? {} : { details }) } },
});

async function send(prepared: { body: { put: { url: string; headers: object } } }, bytes: Buffer) {
  const { url, headers } = prepared.body.put;
  const stored = await fetch(url, { method: 'PUT', headers: { ...headers }, body: bytes });
  expect(stored.status).toBe(200);
}

describe('the upload handler', () => {
  it('prepares and completes an upload, and calls the hook with the metadata of the middleware', async () => {
    const prepared = await post(prepare());
    expect(prepared).toMatchObject({ status: 200, body: { upload_id: expect.any(String) } });
    await send(prepared, picture);
    const done = await post({ action: 'complete', token: prepared.body.token });
    expect(done).toMatchObject({
      status: 200,
      body: { status: 'ready', file: { width: 64, revision: 1 }, result: { saved_for: 'ada' } },
    });
    const { file_slug } = done.body.file;
    expect(completed).toEqual([{ metadata: { user: 'ada', album: 'faces' }, slug: file_slug }]);
  });

  it('starts one session per idempotency key, caller and request', async () => {
    const idempotency_key = 'once';
    const first = await post(prepare({ idempotency_key }));
    const again = await post(prepare({ idempotency_key }));
    expect(again.body.upload_id).toBe(first.body.upload_id);
    const others = await Promise.all([
      post(prepare({ idempotency_key }), { user: 'eve' }),
      post(prepare({ idempotency_key, input: { album: 'others' } })),
      post(prepare({ idempotency_key, file: file({ size_bytes: 7 }) })),
      post(prepare({ idempotency_key, route: 'large' })),
      post(prepare({ idempotency_key: 'twice' })),
      post(prepare()),
    ]);
    const ids = [first, ...others].map(({ body }) => body.upload_id);
    expect(new Set(ids).size).toBe(7);
    expect(ids).not.toContain(undefined);
    expect(await post(prepare({ idempotency_key: 7 }))).toMatchObject(
      refusal(400, 'invalid_request'),
    );
  });

  it('starts a new session if the one of the idempotency key has ended', async () => {
    const first = await post(prepare({ idempotency_key: 'late' }));
    await post({ action: 'abort', token: first.body.token });
    setClockAhead(16 * 60);
    const again = await post(prepare({ idempotency_key: 'late' }));
    expect(again).toMatchObject({ status: 200, body: { upload_id: expect.any(String) } });
    expect(again.body.upload_id).not.toBe(first.body.upload_id);
  });

  it.each([
    ['one PUT', file, 16 * 60],
    ['parts', () => file({ size_bytes: 17_000_000 }), 13 * 60 * 60],
  ])('starts only one session for %s if its own clock is ahead', async (_, sent, seconds) => {
    const begun: string[] = [];
    const counting: typeof fetch = async (target, init) => {
      if (init?.method === 'POST') begun.push(String(target));
      return fetch(target, init);
    };
    setClockAhead(seconds);
    const handler = makeHandler({ fetch: counting });
    const prepared = await post(prepare({ route: 'large', file: sent() }), { handler });
    expect(prepared.status).toBe(200);
    expect(begun).toHaveLength(1);
  });

  it('describes what its routes accept', async () => {
    const answer = await makeHandler()(new Request('https://shop.example/upload'));
    expect(await answer.json()).toEqual({
      routes: {
        avatar: {
          accept: {
            'image/jpeg': { max_bytes: 1_048_576, max_count: 1 },
            'image/png': { max_bytes: null, max_count: null },
          },
        },
        large: { accept: { 'image/*': { max_bytes: null, max_count: null } } },
      },
    });
  });

  it('needs no route name if it has only one route', async () => {
    const handler = makeHandler({ router: { large } });
    const prepared = await post({ action: 'prepare', file: file() }, { handler });
    expect(prepared.status).toBe(200);
  });

  it.each([
    ['unknown_route', 400, { route: 'none' }, undefined],
    ['unknown_route', 400, { route: undefined }, undefined],
    ['unknown_route', 400, { route: 'toString' }, undefined],
    [
      'unsupported_content_type',
      400,
      { file: { name: 'a', content_type: 'image/gif', size_bytes: 1 } },
      { accepted: ['image/jpeg', 'image/png'] },
    ],
    [
      'file_too_large',
      413,
      { file: { name: 'a', content_type: 'image/jpeg', size_bytes: 1_048_577 } },
      { max_bytes: 1_048_576 },
    ],
    ['invalid_input', 400, { input: { album: 5 } }, undefined],
    ['invalid_request', 400, { file: { name: 'a' } }, undefined],
  ])('rejects a prepare call with %s and status %i', async (code, status, over, details) => {
    expect(await post(prepare(over))).toMatchObject(refusal(status, code, details));
  });

  it.each([
    ['', 401, 'sign_in'],
    ['banned', 403, 'forbidden'],
    ['broken', 500, 'middleware_failed'],
  ])('passes on what the middleware throws for user %j: %i %s', async (user, status, code) => {
    expect(await post(prepare(), { user })).toMatchObject(refusal(status, code));
    expect(errors.length).toBe(status === 500 ? 1 : 0);
  });

  it('rejects a token that was changed, made with another key, or truncated', async () => {
    const { token } = (await post(prepare())).body;
    const [prefix, id, exp, , mac] = token.split('.');
    const state = Buffer.from('{"route":"large","metadata":null}').toString('base64url');
    const rotated = makeHandler({ apiKey: 'tin_live_another' });
    for (const action of ['complete', 'parts', 'abort']) {
      for (const forged of [[prefix, id, exp, state, mac].join('.'), token.slice(0, -1), '', 7]) {
        const answer = await post({ action, token: forged });
        expect(answer).toMatchObject(refusal(401, 'invalid_token'));
      }
      const answer = await post({ action, token }, { handler: rotated });
      expect(answer).toMatchObject(refusal(401, 'invalid_token'));
    }
  });

  it('answers upload_expired if the token and its session have expired', async () => {
    const { token, upload_id } = (await post(prepare())).body;
    const late = lapseToken(tintype.instance, token);
    await lapseSession(tintype.instance, upload_id);
    for (const action of ['complete', 'parts', 'abort']) {
      expect(await post({ action, token: late })).toMatchObject(refusal(410, 'upload_expired'));
    }
  });

  it.each(['before', 'after'])(
    'publishes bytes that arrived in time and were completed %s the session ended, and calls the hook',
    async (when) => {
      const handler = makeHandler({ pollSeconds: 0 });
      const prepared = await post(prepare());
      const { token, upload_id } = prepared.body;
      await send(prepared, picture);
      if (when === 'before') await post({ action: 'complete', token }, { handler });
      await lapseSession(tintype.instance, upload_id);
      completed.length = 0;
      const late = lapseToken(tintype.instance, token);
      expect(await post({ action: 'complete', token: late })).toMatchObject({
        status: 200,
        body: { status: 'ready', upload_id, result: { saved_for: 'ada' } },
      });
      expect(completed).toHaveLength(1);
      for (const action of ['parts', 'abort']) {
        expect(await post({ action, token: late })).toMatchObject(refusal(410, 'upload_expired'));
      }
    },
  );

  it('answers 422 with the reason why the image cannot be used', async () => {
    const bytes = Buffer.from('this is no picture at all');
    const prepared = await post(prepare({ file: file({ size_bytes: bytes.length }) }));
    await send(prepared, bytes);
    const done = await post({ action: 'complete', token: prepared.body.token });
    expect(done).toMatchObject(refusal(422, 'unsupported_media_type'));
  });

  it('answers 422 session_expired after an abort', async () => {
    const { token } = (await post(prepare())).body;
    expect(await post({ action: 'abort', token })).toEqual({
      status: 200,
      body: { status: 'aborted' },
    });
    const done = await post({ action: 'complete', token });
    expect(done).toMatchObject(refusal(422, 'session_expired'));
    const late = lapseToken(tintype.instance, token);
    expect(await post({ action: 'complete', token: late })).toMatchObject(
      refusal(410, 'upload_expired'),
    );
  });

  it('answers on_upload_complete_failed if the hook fails, and calls it again with complete', async () => {
    const prepared = await post(prepare({ input: { album: 'bad' } }));
    await send(prepared, picture);
    for (const _ of [1, 2]) {
      errors.length = 0;
      const done = await post({ action: 'complete', token: prepared.body.token });
      expect(done).toMatchObject(refusal(500, 'on_upload_complete_failed'));
      expect(errors.length).toBe(1);
    }
  });

  it('passes on the status of a refusal by the service', async () => {
    const done = await post({ action: 'complete', token: (await post(prepare())).body.token });
    expect(done).toMatchObject(refusal(409, 'ingest_object_missing'));
    const heavy = file({ size_bytes: 250_000_001 });
    const answer = await post(prepare({ route: 'large', file: heavy }));
    expect(answer).toMatchObject(refusal(413, 'file_too_large', { max_bytes: 250_000_000 }));
  });

  it('answers 502 if the service is unreachable or answers 5xx', async () => {
    const answering = (status: number) => async () =>
      Response.json({ error: { code: 'storage_unavailable', message: 'Later.' } }, { status });
    const cases = [
      [async () => Promise.reject(new TypeError('refused')), 'api_unreachable'],
      [async () => new Response('<html>', { status: 503 }), 'api_unreachable'],
      [answering(503), 'storage_unavailable'],
    ] as const;
    for (const [fetch, code] of cases) {
      const handler = makeHandler({ fetch, retries: 0 });
      expect(await post(prepare(), { handler })).toMatchObject(refusal(502, code));
    }
  });

  it('answers 202 while processing takes longer than it waits', async () => {
    const handler = makeHandler({ pollSeconds: 0 });
    const prepared = await post(prepare(), { handler });
    await send(prepared, picture);
    const statuses = new Set<number>();
    for (;;) {
      const { status } = await post(
        { action: 'complete', token: prepared.body.token },
        { handler },
      );
      statuses.add(status);
      if (status !== 202) break;
    }
    expect([...statuses]).toEqual([202, 200]);
  });

  it('prepares a large file in parts of 8 MiB, or of at least 5 MiB if smaller ones are requested', async () => {
    const size_bytes = 24 * 1024 * 1024;
    const ask = (part_size?: number) =>
      post({ action: 'prepare', route: 'large', file: file({ size_bytes }), part_size });
    expect((await ask()).body.multipart).toMatchObject({
      part_size: 8 * 1024 * 1024,
      parts: [{ part_number: 1 }, { part_number: 2 }, { part_number: 3 }],
    });
    const small = await ask(1);
    expect(small.body.multipart.part_size).toBeGreaterThanOrEqual(5 * 1024 * 1024);
    const signed = await post({ action: 'parts', token: small.body.token });
    expect(signed.body.parts).toHaveLength(small.body.multipart.parts.length);
  });

  it('says that an empty file is empty', async () => {
    const { status, body } = await post(prepare({ file: file({ size_bytes: 0 }) }));
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' });
    expect(body.error.message).toContain('The file is empty');
  });

  it('accepts only JSON, which no form of another site can send', async () => {
    const send = (init: RequestInit) =>
      makeHandler()(new Request('https://shop.example/upload', { method: 'POST', ...init }));
    const form = await send({ body: JSON.stringify(prepare()) });
    expect({ status: form.status, body: await form.json() }).toMatchObject(
      refusal(400, 'invalid_request'),
    );
    const torn = await send({ body: '{', headers: { 'content-type': 'application/json' } });
    expect(await torn.json()).toMatchObject({ error: { code: 'invalid_json' } });
  });
});

describe('the adapters', () => {
  let server: Server;
  afterAll(() => server?.close());

  it('serve a plain node:http server and Express, with or without its JSON parser', async () => {
    const handle = expressHandler(makeHandler());
    const plain: RequestListener = (request, response) => void handle(request, response);
    const bare = express().all('/upload', handle);
    const parsing = express().use(express.json()).all('/upload', handle);
    for (const listener of [plain, bare, parsing]) {
      server = createServer(listener);
      await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
      const { port } = server.address() as AddressInfo;
      const answer = await fetch(`http://127.0.0.1:${port}/upload`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-user': 'ada', connection: 'close' },
        body: JSON.stringify(prepare()),
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.json()).toMatchObject({ put: { url: expect.any(String) } });
      server.close();
    }
  });

  it('give Next.js its GET and POST functions', () => {
    const handler = makeHandler();
    expect(nextHandlers(handler)).toEqual({ GET: handler, POST: handler });
  });
});
