import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorPages } from '../../../../runtime/core/error-help/error-pages.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import type { PresignedPut } from '../../../../runtime/platform/storage/bucket.ts';
import {
  createFolderBucket,
  type FolderBucket,
} from '../../../../runtime/platform/storage/folder.ts';
import { folderStorageHandler } from '../../../../runtime/platform/storage/folder-server.ts';
import { verifyFolderPut } from '../../../../runtime/platform/storage/folder-url.ts';
import { closeHttp } from '../../../support/close-http.ts';
import { sendOn } from '../../../support/send-on.ts';

const secret = Buffer.alloc(32, 9);
let now: Date;
const clock = { now: () => now };
let folder: string;
let server: Server;
let port: number;
let bucket: FolderBucket;
let arrived: string[];
let lines: Record<string, unknown>[];

beforeEach(async () => {
  now = new Date('2026-11-20T12:00:00Z');
  arrived = [];
  folder = await mkdtemp(join(tmpdir(), 'tintype-server-'));
  const buckets: Record<string, FolderBucket> = {};
  const onObject = (name: string, key: string) => void arrived.push(`${name}/${key}`);
  lines = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLog({ level: 'debug', name: 'test', destination });
  const handle = folderStorageHandler({ buckets, secret, clock, onObject, log });
  server = createServer((request, response) => {
    if (!handle(request, response)) response.writeHead(404).end('not storage');
  });
  // As the API's server does.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  const publicUrl = `http://127.0.0.1:${port}`;
  bucket = createFolderBucket({ name: 'ingest', folder, publicUrl, secret, clock });
  buckets.ingest = bucket;
});

afterEach(async () => {
  await closeHttp(server);
  await rm(folder, { recursive: true, force: true });
});

function presign(size: number, key = 'prj_1/upl_1'): Promise<PresignedPut> {
  return bucket.presignPut(key, {
    content_type: 'image/svg+xml',
    size_bytes: size,
    expires_in_seconds: 900,
  });
}

type Answer = { status: number | undefined; headers: IncomingMessage['headers']; text: string };
type Put = { url: string; headers: Record<string, string>; body?: Buffer; method?: string };

function send({ url, headers, body, method = 'PUT' }: Put): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const outgoing = httpRequest(url, { method, headers, agent: false }, async (response) => {
    resolve({ status: response.statusCode, headers: response.headers, text: await text(response) });
  });
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}

async function storedKeys(): Promise<string[]> {
  const stored = await bucket.list({ prefix: '', limit: 10 });
  return stored.map((object) => object.key);
}

describe('a signed PUT URL', () => {
  it('accepts the declared bytes with the returned headers, and returns their ETag', async () => {
    const body = Buffer.alloc(1_000_000, 3);
    const signed = await presign(body.length);
    expect(signed.headers).toEqual({
      'content-type': 'image/svg+xml',
      'content-length': '1000000',
    });
    expect(signed.expires_at).toEqual(new Date('2026-11-20T12:15:00Z'));
    const answer = await send({ ...signed, body });
    expect(answer.status).toBe(200);
    const head = await bucket.head('prj_1/upl_1');
    expect(head).toMatchObject({ size_bytes: 1_000_000, content_type: 'image/svg+xml' });
    expect(answer.headers.etag).toBe(head?.etag);
    expect(answer.headers['access-control-expose-headers']).toBe('ETag');
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect((await bucket.read('prj_1/upl_1'))?.equals(body)).toBe(true);
    expect(arrived).toEqual(['ingest/prj_1/upl_1']);
  });

  it('can be used again until it expires, and the last bytes win', async () => {
    const signed = await presign(3);
    await send({ ...signed, body: Buffer.from('one') });
    await send({ ...signed, body: Buffer.from('two') });
    expect((await bucket.read('prj_1/upl_1'))?.toString()).toBe('two');
  });

  it('is rejected while the client still sends, and the connection stays usable', async () => {
    const { url, headers } = await presign(5_000_000);
    const { 'content-type': type = '' } = headers;
    const bytes = Buffer.alloc(5_000_000);
    const statuses = await sendOn({ url: `${url}x`, headers: { 'content-type': type }, bytes });
    expect(statuses).toEqual([403, 404]);
  });

  it('lets a client with Expect: 100-continue send its bytes only if it accepts them', async () => {
    const begun = async ({ url, headers }: PresignedPut) => {
      const outgoing = httpRequest(url, {
        ...{ method: 'PUT', agent: false },
        headers: { ...headers, expect: '100-continue' },
      });
      const refused = once(outgoing, 'response').then(([response]) => response.statusCode);
      outgoing.flushHeaders();
      const first = await Promise.race([once(outgoing, 'continue').then(() => 100), refused]);
      outgoing.end('abc');
      return [first, await refused];
    };
    const signed = await presign(3);
    expect(await begun(signed)).toEqual([100, 200]);
    expect(await begun({ ...signed, url: `${signed.url}x` })).toEqual([403, 403]);
  });

  it('is rejected with 403 from the second at which it expires', async () => {
    const signed = await presign(3);
    now = new Date('2026-11-20T12:14:59.999Z');
    expect((await send({ ...signed, body: Buffer.from('abc') })).status).toBe(200);
    await bucket.delete('prj_1/upl_1');
    now = new Date('2026-11-20T12:15:00Z');
    expect((await send({ ...signed, body: Buffer.from('abc') })).status).toBe(403);
    expect(await storedKeys()).toEqual([]);
  });

  it('says once expired whether to start a new upload or request a fresh part URL', async () => {
    const whole = await presign(3);
    const upload_id = await bucket.createMultipart('prj_1/upl_2', { content_type: 'image/png' });
    const terms = { upload_id, part_number: 1, size_bytes: 3, expires_in_seconds: 900 };
    const { url } = await bucket.presignPart('prj_1/upl_2', terms);
    now = new Date('2026-11-20T12:15:00Z');
    const refused = async (put: Put) => JSON.parse((await send(put)).text).error;
    expect(await refused({ ...whole, body: Buffer.from('abc') })).toEqual({
      code: 'signature_expired',
      message: 'The URL has expired: start a new upload.',
    });
    expect(await refused({ url, headers: {}, body: Buffer.from('abc') })).toEqual({
      code: 'signature_expired',
      message: 'The URL has expired: request a new one with POST …/parts.',
    });
  });

  it('is rejected with 403 for a length or type other than the signed one', async () => {
    const signed = await presign(3);
    const longer = { ...signed.headers, 'content-length': '4' };
    expect((await send({ ...signed, headers: longer, body: Buffer.from('abcd') })).status).toBe(
      403,
    );
    for (const type of ['image/png', 'image/svg+xml; charset=utf-8', '']) {
      const headers = { ...signed.headers, 'content-type': type };
      expect((await send({ ...signed, headers, body: Buffer.from('abc') })).status).toBe(403);
    }
    expect(await storedKeys()).toEqual([]);
  });

  it('is rejected with 411 if the request has no length', async () => {
    const { url, headers } = await presign(3);
    const chunked = {
      'content-type': headers['content-type'] ?? '',
      'transfer-encoding': 'chunked',
    };
    const answer = await send({ url, headers: chunked, body: Buffer.from('abc') });
    expect(answer.status).toBe(411);
    expect(JSON.parse(answer.text).error.code).toBe('length_required');
  });

  it('is rejected after a change of any character', async () => {
    const { url } = await presign(3);
    const target = url.slice(`http://127.0.0.1:${port}`.length);
    expect(verifyFolderPut(secret, target)).toMatchObject({ key: 'prj_1/upl_1', size_bytes: 3 });
    const place = fc.nat({ max: target.length - 1 });
    const character = fc.constantFrom(...'abcXYZ019-_.=&?/%+ ');
    fc.assert(
      fc.property(place, character, (at, instead) => {
        fc.pre(at >= '/_storage/'.length && target[at] !== instead);
        const altered = target.slice(0, at) + instead + target.slice(at + 1);
        expect(verifyFolderPut(secret, altered)).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
    for (const more of ['&x=1', '&size=9', '#', '?']) {
      expect(verifyFolderPut(secret, target + more)).toBeUndefined();
    }
  });

  it('is rejected for another bucket, secret or method', async () => {
    const { url, headers } = await presign(3);
    const elsewhere = url.replace('/ingest/', '/content/');
    expect((await send({ url: elsewhere, headers, body: Buffer.from('abc') })).status).toBe(403);
    expect(verifyFolderPut(Buffer.alloc(32, 1), new URL(url).pathname)).toBeUndefined();
    expect((await send({ url, headers: {}, method: 'GET' })).status).toBe(405);
    expect((await send({ url, headers: {}, method: 'DELETE' })).status).toBe(405);
  });

  it('is rejected with codes that have an error page', async () => {
    const { url, headers } = await presign(3);
    const upload_id = await bucket.createMultipart('prj_1/upl_2', { content_type: 'image/png' });
    const terms = { upload_id, part_number: 1, size_bytes: 3, expires_in_seconds: 900 };
    const part = await bucket.presignPart('prj_1/upl_2', terms);
    await bucket.abortMultipart('prj_1/upl_2', upload_id);
    const body = Buffer.from('abc');
    const refused: Put[] = [
      { url, headers, method: 'DELETE' },
      { url: `${url}x`, headers, body },
      { url, headers: { ...headers, 'content-length': '4' }, body: Buffer.from('abcd') },
      { url, headers: { ...headers, 'content-type': 'image/png' }, body },
      { url: part.url, headers: {}, body },
    ];
    for (const put of refused) {
      const { error } = JSON.parse((await send(put)).text);
      expect(errorPages.has(error.code), error.code).toBe(true);
    }
  });

  it('leaves nothing behind if the client disconnects halfway', async () => {
    const { url } = await presign(500_000);
    const { pathname, search } = new URL(url);
    const socket = connect(port, '127.0.0.1');
    const lines = [
      `PUT ${pathname}${search} HTTP/1.1`,
      'host: x',
      'content-type: image/svg+xml',
      'content-length: 500000',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    socket.write(Buffer.alloc(200_000));
    await expect.poll(incoming).toHaveLength(1);
    socket.destroy();
    await expect.poll(incoming).toEqual([]);
    expect(await storedKeys()).toEqual([]);
    expect(arrived).toEqual([]);
  });

  it('answers 503 if the object cannot be written to disk, and warns once, not of each', async () => {
    const signed = await presign(3);
    await rm(folder, { recursive: true });
    for (const _ of [1, 2]) {
      const answer = await send({ ...signed, body: Buffer.from('abc') });
      expect(answer.status).toBe(503);
      expect(answer.text).not.toContain(folder);
    }
    expect(lines).toMatchObject([{ level: 'warn', msg: 'an object could not be stored' }]);
  });
});

describe('CORS of a signed PUT URL', () => {
  it('allows a PUT from any origin', async () => {
    const { url } = await presign(3);
    const headers = {
      origin: 'https://shop.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'content-type',
    };
    const answer = await send({ url, headers, method: 'OPTIONS' });
    expect(answer.status).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-allow-methods']).toContain('PUT');
    expect(answer.headers['access-control-allow-headers']).toBe('*');
  });

  it('makes a rejection readable for any origin', async () => {
    const { url, headers } = await presign(3);
    const answer = await send({ url: `${url}x`, headers, body: Buffer.from('abc') });
    expect(answer.status).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(JSON.parse(answer.text).error.code).toBe('invalid_signature');
  });
});

it('the folder storage handler leaves other paths to other handlers', async () => {
  const url = `http://127.0.0.1:${port}/v1/me`;
  expect(await send({ url, headers: {}, method: 'GET' })).toMatchObject({ status: 404 });
});

async function incoming(): Promise<string[]> {
  return readdir(join(folder, '.incoming')).catch(() => []);
}
