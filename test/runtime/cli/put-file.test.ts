// A storage may reject an upload before it has all bytes and close the connection, as S3 does if a URL has expired.
import { execFileSync } from 'node:child_process';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { putFile, StorageRefusal } from '../../../runtime/cli/put-file.ts';
import { closeHttp } from '../../support/close-http.ts';

const BYTES = 32_000_000;
const seen = { requests: 0 };
let folder: string;
let server: Server;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-put-'));
  await writeFile(join(folder, 'large'), Buffer.alloc(BYTES));
  server = createServer((request, response) => {
    seen.requests += 1;
    response.writeHead(403, { connection: 'close' });
    response.end(() => request.socket.end());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});

afterEach(async () => {
  await closeHttp(server);
  await rm(folder, { recursive: true });
});

it('putFile reports a refusal that arrives before all bytes are sent', async () => {
  const { port } = server.address() as AddressInfo;
  const put = putFile({
    url: `http://127.0.0.1:${port}/expired`,
    headers: { 'content-length': String(BYTES) },
    file: join(folder, 'large'),
    onSent: () => undefined,
  });
  await expect(put).rejects.toBeInstanceOf(StorageRefusal);
  expect(seen.requests).toBe(1);
});

it('putFile returns the ETag once the storage answers, before the end of the file is read', async () => {
  const fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const writer = await open(fifo, 'r+');
  const taking = createServer((request, response) => {
    request.once('data', () => response.writeHead(200, { etag: '"taken"' }).end());
  });
  await new Promise<void>((done) => taking.listen(0, '127.0.0.1', done));
  const put = putFile({
    url: `http://127.0.0.1:${(taking.address() as AddressInfo).port}/`,
    headers: { 'content-length': '5' },
    file: fifo,
    onSent: () => undefined,
  });
  await writer.write('bytes');
  await expect(put).resolves.toBe('"taken"');
  // Closing the pipe lets a pending read of it end.
  await writer.close();
  await new Promise((done) => taking.close(done));
});

it('putFile fails with network_error after three tries at a storage that never answers', async () => {
  let connections = 0;
  const silent = createServer().on('connection', () => (connections += 1));
  silent.on('request', (request) => request.resume());
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  const put = putFile({
    url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/silent`,
    headers: { 'content-length': String(BYTES) },
    file: join(folder, 'large'),
    idle_ms_max: 200,
    onSent: () => undefined,
  });
  await expect(put).rejects.toMatchObject({ code: 'network_error' });
  expect(connections).toBe(3);
  await new Promise((done) => silent.close(done));
});
