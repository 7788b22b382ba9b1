// Reading from object storage: a silent storage times out, a slow reader does not.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bucket } from '../../../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../../../runtime/platform/storage/s3.ts';
import { must } from '../../../support/rows.ts';
import { connectS3 } from '../../../support/s3-server.ts';

/** More than the buffers of connections and streams hold. */
const bytes = randomBytes(16 * 2 ** 20);
const SILENCE_MS = 1000;
let bucket: Bucket;
/** Sends the whole object, or only its first half. */
let speech: 'whole' | 'half' = 'whole';
const sockets = new Set<Socket>();
const server = createServer((_request, answer) => {
  answer.writeHead(200, { 'content-length': bytes.length, etag: '"e"' });
  if (speech === 'whole') answer.end(bytes);
  else answer.write(bytes.subarray(0, bytes.length / 2));
});
server.on('connection', (socket) => sockets.add(socket));

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const at = { endpoint: `http://127.0.0.1:${port}`, credentials };
  bucket = createS3Bucket(connectS3(at, { silenceMs: SILENCE_MS }), 'content');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const open = async (): Promise<Readable> => must(await bucket.open('a/key'));

async function readOn(body: Readable, pauseMs: number): Promise<number> {
  let length = 0;
  for await (const piece of body) {
    if (length === 0) await sleep(pauseMs);
    length += piece.length;
  }
  return length;
}

it('a finished S3 read leaves no timer on the connection that later reads use', async () => {
  speech = 'whole';
  const used = new Set<Socket>();
  const listening: number[] = [];
  for (let more = 0; more < 3; more += 1) {
    const body = (await open()) as Readable & { socket: Socket };
    const { socket } = body;
    used.add(socket);
    expect(socket.timeout).toBe(SILENCE_MS / 2);
    const freed = once(socket, 'free');
    await readOn(body, 0);
    await freed;
    expect(socket.timeout).toBe(0);
    listening.push(socket.listenerCount('timeout'));
  }
  expect(used.size).toBe(1);
  expect(new Set(listening).size).toBe(1);
});

it('an S3 read waits for a reader that pauses at the last piece', async () => {
  speech = 'whole';
  const body = await open();
  let length = 0;
  const slow = new Writable({
    highWaterMark: 1,
    write: (piece: Buffer, _encoding, done) => {
      length += piece.length;
      if (length < bytes.length) done();
      else void sleep(3 * SILENCE_MS).then(() => done());
    },
  });
  await pipeline(body, slow);
  expect(length).toBe(bytes.length);
});

it('an S3 read waits for a reader that pauses longer than S3 may be silent', async () => {
  speech = 'whole';
  // Also if the pause ends exactly when silence would time out.
  for (const pauseMs of [SILENCE_MS / 2, SILENCE_MS, 2 * SILENCE_MS]) {
    expect(await readOn(await open(), pauseMs)).toBe(bytes.length);
  }
});

it('an S3 read fails if S3 falls silent within an object, whether the reader pauses or not', async () => {
  speech = 'half';
  for (const pauseMs of [0, 2 * SILENCE_MS]) {
    await expect(readOn(await open(), pauseMs)).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  }
});
