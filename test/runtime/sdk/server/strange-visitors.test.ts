// The upload handler on a customer's server withstands any request that a visitor may send. Spec: Upload helper codes.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { COMPLETE_BODY_BYTES_MAX } from '../../../../runtime/core/limits.ts';
import {
  createUploadHandler,
  expressHandler,
  UploadRefusal,
  type UploadRoute,
  uploadRoute,
} from '../../../../runtime/sdk/server/sdk.ts';

const options = {
  url: 'http://127.0.0.1:9',
  apiKey: `tin_live_${'0'.repeat(36)}`,
  project: 'demo',
};
const handler = createUploadHandler({ router: {}, ...options });
let server: Server;
let port: number;

beforeAll(async () => {
  // An exception here would end the process.
  server = createServer((request, response) => void expressHandler(handler)(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

const JSON_HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';

it.each([
  ['leaves in the middle of a body', `${JSON_HEAD}Content-Length: 100\r\n\r\n{`],
  ['asks for an address that is none', 'GET // HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['names a host that is none', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n'],
])('a client that %s ends only its own connection', async (_what, bytes) => {
  const visitor = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(visitor, 'connect');
  const closed = once(visitor, 'close');
  visitor.resume().end(bytes);
  await closed;
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).json()).toEqual({ routes: {} });
});

it('a body without a length is rejected with 413 once it exceeds the limit', async () => {
  const visitor = connect(port, '127.0.0.1').on('error', () => undefined);
  visitor.write(`${JSON_HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`);
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  for (let sent = 0; sent <= COMPLETE_BODY_BYTES_MAX; sent += 0x10000) visitor.write(chunk);
  // The response arrives although the client keeps sending.
  expect(await text(visitor)).toMatch(/^HTTP\/1\.1 413 .*payload_too_large/s);
});

it.each([
  ['fields', `{${Array.from({ length: 1001 }, (_, at) => `"${at}":1`).join()}}`, 'invalid_request'],
  ['values', `{"parts":[${'{},'.repeat(31_000)}{}]}`, 'invalid_request'],
  ['names for one field', '{"action":"abort","action":"prepare"}', 'invalid_json'],
])('a body with too many %s is rejected with 400', async (_what, body, code) => {
  const headers = { 'content-type': 'application/json' };
  const answer = await handler(new Request('http://a/', { method: 'POST', headers, body }));
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code } }]);
});

it('an endless body is rejected with 413 by a fetch handler as well', async () => {
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(0x10000)),
  });
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: endless, duplex: 'half' } as const;
  expect((await handler(new Request('http://a/', init))).status).toBe(413);
});

it.each([
  ['express.json()', {}],
  ['express.raw()', Buffer.from('{}')],
  ['express.text()', '{}'],
])('a body that %s has already read is accepted', async (_by, body) => {
  const handle = expressHandler(handler);
  const other = createServer((request, response) => {
    void handle(Object.assign(request, { body }), response);
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port: at } = other.address() as AddressInfo;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${at}/`, { method: 'POST', headers, body: '{}' });
  other.close();
  // The body was read: only its action is missing.
  expect(await answer.json()).toMatchObject({
    error: { code: 'invalid_request', message: expect.stringContaining('action') },
  });
});

/**
 * Sends a `prepare` to a server with this route: its status, and the exceptions of its listener.
 */
async function prepareAt(path: string, photo: UploadRoute, onError = () => undefined) {
  const handle = expressHandler(createUploadHandler({ router: { photo }, onError, ...options }));
  const failures: unknown[] = [];
  const other = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      failures.push(error);
      response.destroy();
    });
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const file = { name: 'a.jpg', content_type: 'image/jpeg', size_bytes: 1 };
  const answer = await fetch(origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'prepare', file }),
  }).catch(() => undefined);
  other.close();
  return { status: answer?.status, failures, origin };
}

const routeWith = (middleware: (call: { request: Request }) => never) =>
  uploadRoute({ accept: { 'image/*': {} }, middleware });

it('a path that begins like another host does not change the host of the request', async () => {
  const urls: string[] = [];
  const photo = routeWith(({ request }) => {
    urls.push(request.url);
    throw new UploadRefusal();
  });
  const { status, origin } = await prepareAt('//other.example/upload', photo);
  expect(status).toBe(403);
  expect(urls).toEqual([`${origin}//other.example/upload`]);
});

it('a content type in capitals is normalized for the route and its middleware', async () => {
  const types: string[] = [];
  const middleware = ({ file }: { file: { content_type: string } }) => {
    types.push(file.content_type);
    throw new UploadRefusal();
  };
  const photo = uploadRoute({ accept: { 'image/jpeg': {} }, middleware });
  const file = { name: 'A.JPG', content_type: 'IMAGE/Jpeg', size_bytes: 1 };
  const request = new Request('https://shop.example/upload', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'prepare', file }),
  });
  const answer = await createUploadHandler({ router: { photo }, ...options })(request);
  expect([answer.status, types]).toEqual([403, ['image/jpeg']]);
});

const noLog = () => {
  throw new Error('no log');
};
it.each([
  ['a status that is none', () => new UploadRefusal({ status: 42 }), undefined, 500],
  ['details that are no JSON', () => new UploadRefusal({ details: 1n }), undefined, 500],
  ['a log that is away', () => new UploadRefusal({ status: 503 }), noLog, 503],
])(
  'a route that refuses with %s does not crash the server',
  async (_what, refusal, onError, status) => {
    const photo = routeWith(() => {
      throw refusal();
    });
    expect(await prepareAt('/', photo, onError)).toMatchObject({ status, failures: [] });
  },
);
