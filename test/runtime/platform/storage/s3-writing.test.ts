// Writing to object storage: a storage that reads nothing or never answers times out, a slow sender does not, and the
// time allowed grows with the number of bytes.
import { randomBytes } from 'node:crypto';
import {
  type Agent,
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bucket } from '../../../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../../../runtime/platform/storage/s3.ts';
import type { S3Access } from '../../../../runtime/platform/storage/s3-client.ts';
import { closeHttp } from '../../../support/close-http.ts';
import { must } from '../../../support/rows.ts';
import { connectS3 } from '../../../support/s3-server.ts';
import { makeSelfSigned } from '../../../support/self-signed.ts';

/** More than the buffers of connections and streams hold. */
const bytes = randomBytes(16 * 2 ** 20);
const SILENCE_MS = 1000;
/** Long enough for a busy machine, and far below the timeouts that would otherwise apply. */
const SOON_MS = 15_000;
/** At this rate, sending the bytes takes longer than the deadline, despite the buffers. */
const SLOW_BYTES_PER_MS = 8000;
const png = { content_type: 'image/png' };
const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
let access: S3Access;
let bucket: Bucket;
/** Has a deadline of one second; its silence timeout is too long to matter. */
let hasty: Bucket;
/**
 * How the server behaves: reads everything and answers (`slow`: reads slowly; `mute`: never
 * answers), or stops reading after the first bytes (`deaf`).
 */
let hearing: 'whole' | 'slow' | 'mute' | 'deaf' = 'whole';
/** How many writes are answered with 500 at their first bytes. */
let refusals = 0;
const sockets = new Set<Socket>();
const answering: RequestListener = (request, answer) => {
  void hear(request, answer);
};
const server = createServer(answering);
server.on('connection', (socket) => sockets.add(socket));

async function hear(request: IncomingMessage, answer: ServerResponse): Promise<void> {
  try {
    let taken = 0;
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      taken += piece.length;
      if (refusals > 0) return void refuse(answer);
      if (hearing === 'deaf') return;
      if (hearing === 'slow') await sleep(piece.length / SLOW_BYTES_PER_MS);
    }
    if (hearing !== 'mute') answer.writeHead(200, { etag: `"${taken}"` }).end();
  } catch {
    answer.destroy();
  }
}

function refuse(answer: ServerResponse): void {
  refusals -= 1;
  answer.writeHead(500).end();
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const at = { endpoint: `http://127.0.0.1:${port}`, credentials };
  access = connectS3(at, { silenceMs: SILENCE_MS });
  bucket = createS3Bucket(access, 'content');
  const options = { deadlineMs: 1000, silenceMs: 30_000, attempts: 1 };
  hasty = createS3Bucket(connectS3(at, options), 'content');
});
afterAll(() => closeHttp(server));

/** Streams the pieces, with a pause before each and before the end. */
function sending(pieces: Buffer[], pauseMs: number): Readable {
  const pause = async () => void (pauseMs > 0 && (await sleep(pauseMs)));
  const sender = async function* () {
    for (const piece of pieces) {
      await pause();
      yield piece;
    }
    await pause();
  };
  return Readable.from(sender(), { objectMode: false });
}

/** Below and above the size from which the client sends `Expect: 100-continue`. */
const short = [bytes.subarray(0, 1000), bytes.subarray(1000, 2000)];
const long = [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)];

const write = (pieces: Buffer[], pauseMs = 0) => {
  const size_bytes = Buffer.concat(pieces).length;
  return bucket.write('a/key', sending(pieces, pauseMs), { ...png, size_bytes });
};

async function givenUpAfter(work: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await expect(work).rejects.toMatchObject({ code: 'storage_unavailable' });
  return performance.now() - began;
}

describe('an S3 write from a stream', () => {
  it.each([SILENCE_MS / 2, SILENCE_MS, 2.5 * SILENCE_MS])(
    'waits for a sender that pauses for %i ms before each piece and before the end',
    async (pauseMs) => {
      hearing = 'whole';
      for (const pieces of [short, long]) {
        const size_bytes = Buffer.concat(pieces).length;
        expect(await write(pieces, pauseMs)).toMatchObject({ size_bytes, etag: `"${size_bytes}"` });
      }
    },
  );

  it('fails if S3 stops accepting bytes, whether the sender pauses or not', async () => {
    hearing = 'deaf';
    for (const pauseMs of [0, SILENCE_MS / 2]) {
      const tookMs = await givenUpAfter(write(long, pauseMs));
      expect(tookMs).toBeGreaterThan(SILENCE_MS);
      expect(tookMs).toBeLessThan(SOON_MS);
    }
  });

  it('fails if S3 accepts everything but does not respond', async () => {
    hearing = 'mute';
    for (const pieces of [short, long]) {
      const tookMs = await givenUpAfter(write(pieces));
      expect(tookMs).toBeGreaterThan(SILENCE_MS * 0.9);
      expect(tookMs).toBeLessThan(SOON_MS);
    }
  });

  it('closes the connection if S3 responds before it has accepted everything', async () => {
    refusals = 1;
    sockets.clear();
    await givenUpAfter(write(long, SILENCE_MS / 2));
    expect(sockets.size).toBe(1);
    await expect.poll(() => [...sockets].every(({ closed }) => closed)).toBe(true);
  });

  it('leaves its connection to the next write, without a timer', async () => {
    hearing = 'whole';
    sockets.clear();
    const listening: number[] = [];
    for (let more = 0; more < 3; more += 1) {
      await write(short);
      await expect.poll(freeSockets).toHaveLength(1);
      const free = freeSockets();
      listening.push(...free.map((socket) => socket.listenerCount('timeout')));
    }
    expect(sockets.size).toBeLessThan(2);
    expect(new Set(listening).size).toBe(1);
  });
});

function freeSockets(): Socket[] {
  const handler = access.writer.config.requestHandler as unknown as {
    httpHandlerConfigs(): { httpAgent: Agent };
  };
  const { freeSockets: free } = handler.httpHandlerConfigs().httpAgent;
  return Object.values(free).flatMap((some = []) => some);
}

async function overTls(work: (endpoint: string) => Promise<void>): Promise<void> {
  const signed = makeSelfSigned('localhost');
  const secured = createTlsServer(signed, answering);
  await new Promise<void>((resolve) => secured.listen(0, '127.0.0.1', resolve));
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, signed.cert]);
  try {
    await work(`https://localhost:${(secured.address() as AddressInfo).port}`);
  } finally {
    setDefaultCACertificates(trusted);
    secured.closeAllConnections();
    secured.close();
  }
}

describe('an S3 write from memory', () => {
  it('may exceed the deadline if its length requires it on a slow line', async () => {
    hearing = 'slow';
    const began = performance.now();
    expect(await hasty.write('a/key', bytes, png)).toMatchObject({ size_bytes: bytes.length });
    expect(performance.now() - began).toBeGreaterThan(1500);
  });

  it('counts progress on a slow line as activity, under TLS too', async () => {
    hearing = 'slow';
    const size_bytes = 4 * bytes.length;
    await overTls(async (endpoint) => {
      const options = { deadlineMs: 1000, silenceMs: 2500, attempts: 1 };
      const secured = createS3Bucket(connectS3({ endpoint, credentials }, options), 'content');
      const written = secured.write('a/key', Buffer.alloc(size_bytes), png);
      expect(await written).toMatchObject({ size_bytes });
    });
  });

  it('is retried from the first byte', async () => {
    hearing = 'whole';
    for (const few of [must(short[0]), bytes]) {
      refusals = 1;
      expect(await bucket.write('a/key', few, png)).toMatchObject({ etag: `"${few.length}"` });
      expect(refusals).toBe(0);
    }
  });

  it('fails soon if S3 stops accepting bytes', async () => {
    hearing = 'deaf';
    const tookMs = await givenUpAfter(bucket.write('a/key', bytes, png));
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  it('has the usual deadline if it is short', async () => {
    hearing = 'mute';
    const tookMs = await givenUpAfter(hasty.write('a/key', must(short[0]), png));
    expect(tookMs).toBeLessThan(SOON_MS);
  });
});
