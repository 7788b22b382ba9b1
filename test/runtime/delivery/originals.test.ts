import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../runtime/core/errors.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import type { Bucket } from '../../../runtime/platform/storage/bucket.ts';
import { useDatabase } from '../../support/database.ts';
import { change, publishImage } from '../../support/delivered.ts';
import { type DeliveryHost, ROOT_DOMAIN, startDeliveryHost } from '../../support/delivery-host.ts';
import { type DeliveryStack, openStack } from '../../support/delivery-stack.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const BYTES = 2_000_000;
const bytes = Buffer.alloc(BYTES, 'tintype ');
/** More than all buffers between storage and a viewer hold. */
const LARGE_BYTES = 60_000_000;
let stack: DeliveryStack;
let host: DeliveryHost;
let project: ProjectRow;
/** State of the stream that was opened last. */
let seen = { read: 0, isClosed: false };

beforeAll(async () => {
  stack = await openStack();
  host = await startDeliveryHost({ db, wall_clock_ms: 0, content: watched(stack.content) });
});
afterAll(async () => {
  await host.close();
  await stack.closeQueues();
  stack.remove();
});
beforeEach(async () => {
  project = await makeProject(db);
  await publishBytes(bytes);
});

async function publishBytes(image: Buffer): Promise<void> {
  await publishImage({ db, content: stack.content }, project, {
    image: { bytes: image, width: 100, height: 100, content_type: 'image/png' },
    file_slug: 'large',
    metadata: {},
    raw_object_key: null,
  });
}

/** Replaces the image by a large one of the same pattern. */
async function publishLarge(): Promise<Buffer> {
  const large = Buffer.alloc(LARGE_BYTES, 'tintype ');
  await publishBytes(large);
  return large;
}

/** The same stream, with bytes and closing recorded in `seen`. */
function watch(stream: Readable | undefined): Readable | undefined {
  if (stream === undefined) return undefined;
  const own = { read: 0, isClosed: false };
  seen = own;
  stream.on('close', () => {
    own.isClosed = true;
  });
  const push = stream.push.bind(stream);
  stream.push = (chunk, encoding) => {
    own.read += chunk?.length ?? 0;
    return push(chunk, encoding);
  };
  return stream;
}

const watched = (content: Bucket): Bucket => ({
  ...content,
  open: async (key, range) => watch(await content.open(key, range)),
});

const PATH = '/originals/f/large';

async function open({ port } = host): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.write(`GET ${PATH} HTTP/1.1\r\nHost: ${project.project_slug}.${ROOT_DOMAIN}\r\n\r\n`);
  return socket;
}

async function usage(): Promise<{ bytes: number; credits: number } | undefined> {
  await host.meter.flush();
  const [row] = await db.query<{ bytes: number; credits: number }>(
    'select bytes, credits from usage_batch_rows where project_id = $1',
    [project.project_id],
  );
  return row;
}

/** Reads at least `count` bytes, then stops reading. */
async function readSome(socket: Socket, count: number): Promise<number> {
  let received = 0;
  while (received < count) received += ((await once(socket, 'data'))[0] as Buffer).length;
  socket.pause();
  return received;
}

describe('an original', () => {
  it('is streamed whole and metered by its bytes', async () => {
    const large = await publishLarge();
    const answer = await host.get(project.project_slug, PATH);
    expect(answer.body.equals(large)).toBe(true);
    expect(await usage()).toEqual({
      bytes: LARGE_BYTES,
      credits: Math.ceil(LARGE_BYTES / 1_048_576),
    });
  });

  it('is read from storage no faster than the viewer receives it', async () => {
    await publishLarge();
    const socket = await open();
    await readSome(socket, 100_000);
    let before = 0;
    const standsStill = () => {
      const now = seen.read;
      const isStill = now === before;
      before = now;
      return isStill;
    };
    await expect.poll(standsStill, { interval: 150 }).toBe(true);
    expect(seen.read).toBeLessThan(LARGE_BYTES / 2);
    socket.destroy();
    await expect.poll(() => seen.isClosed).toBe(true);
  });

  it('is closed and metered for the bytes sent if the viewer disconnects midway', async () => {
    await publishLarge();
    const socket = await open();
    const received = await readSome(socket, 5_000_000);
    socket.destroy();
    await expect.poll(() => seen.isClosed).toBe(true);
    await expect.poll(usage).toBeDefined();
    const metered = (await usage())?.bytes ?? 0;
    expect(metered).toBeGreaterThanOrEqual(received - 1000);
    expect(metered).toBeLessThan(LARGE_BYTES / 2);
    expect(metered).toBeLessThanOrEqual(seen.read);
  });

  it('costs twice the bytes sent if it is a raw download that the viewer aborts midway', async () => {
    await publishLarge();
    await change(db, project, { raw_download_enabled: true });
    const socket = connect({ port: host.port, host: '127.0.0.1' });
    const path = '/download/raw/f/large';
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${project.project_slug}.${ROOT_DOMAIN}\r\n\r\n`);
    const received = await readSome(socket, 5_000_000);
    socket.destroy();
    await expect.poll(usage).toBeDefined();
    const { bytes: metered = 0, credits = 0 } = (await usage()) ?? {};
    expect(metered).toBeGreaterThanOrEqual(received - 1000);
    expect(metered).toBeLessThan(LARGE_BYTES / 2);
    expect(credits).toBe(Math.ceil((2 * metered) / 1_048_576));
  });

  it('is closed if the viewer stops reading', async () => {
    await publishLarge();
    const { content } = stack;
    const impatient = await startDeliveryHost({
      db,
      wall_clock_ms: 0,
      timeouts: { idle_ms: 400 },
      content: watched(content),
    });
    const socket = await open(impatient);
    await readSome(socket, 100_000);
    await expect.poll(() => seen.isClosed).toBe(true);
    socket.destroy();
    await impatient.close();
    expect(await usage()).toBeDefined();
  });

  it('costs one credit and no bytes if the viewer already has it', async () => {
    const headers = { 'if-none-match': '*' };
    expect((await host.get(project.project_slug, PATH, { headers })).status).toBe(304);
    expect(await usage()).toEqual({ bytes: 0, credits: 1 });
  });

  it('is sent with a sandbox policy and nosniff if it is an SVG', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
    await publishImage({ db, content: stack.content }, project, {
      image: { bytes: svg, width: 2048, height: 2048, content_type: 'image/svg+xml' },
      file_slug: 'drawing',
    });
    const { headers, body } = await host.get(project.project_slug, '/originals/f/drawing');
    expect(body.equals(svg)).toBe(true);
    expect(headers['content-type']).toBe('image/svg+xml');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).toContain('sandbox');
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('is not opened for HEAD, which costs one credit', async () => {
    seen = { read: 0, isClosed: false };
    const answer = await host.get(project.project_slug, PATH, { method: 'HEAD' });
    expect(answer.headers['content-length']).toBe(String(BYTES));
    expect(seen.read).toBe(0);
    expect(await usage()).toEqual({ bytes: 0, credits: 1 });
  });
});

describe('a byte range of an original', () => {
  const part = (range: string, headers = {}) =>
    host.get(project.project_slug, PATH, { headers: { range, ...headers } });

  it('is served with 206 and metered by its bytes', async () => {
    const answer = await part('bytes=1000-2999');
    expect(answer.status).toBe(206);
    expect(answer.headers).toMatchObject({
      'accept-ranges': 'bytes',
      'content-range': `bytes 1000-2999/${BYTES}`,
      'content-length': '2000',
      'cache-control': 'public, max-age=300, s-maxage=31536000',
    });
    expect(answer.body.equals(bytes.subarray(1000, 3000))).toBe(true);
    expect(await usage()).toEqual({ bytes: 2000, credits: 1 });
  });

  it('may be a suffix of the image', async () => {
    const answer = await part('bytes=-5');
    expect(answer.headers['content-range']).toBe(`bytes ${BYTES - 5}-${BYTES - 1}/${BYTES}`);
    expect(answer.body.equals(bytes.subarray(-5))).toBe(true);
  });

  it('is served only if If-Range matches, otherwise the whole image is', async () => {
    const { etag = '' } = (await part('bytes=0-0')).headers;
    expect((await part('bytes=0-0', { 'if-range': etag })).status).toBe(206);
    const other = await part('bytes=0-0', { 'if-range': '"another"' });
    expect([other.status, other.body.length]).toEqual([200, BYTES]);
  });

  it('beyond the end is refused with 416 range_not_satisfiable, and not metered', async () => {
    const answer = await part(`bytes=${BYTES}-`);
    expect([answer.status, answer.code]).toEqual([416, 'range_not_satisfiable']);
    expect(answer.headers['content-range']).toBe(`bytes */${BYTES}`);
    expect(await usage()).toBeUndefined();
  });

  it('is ignored for HEAD', async () => {
    const answer = await host.get(project.project_slug, PATH, {
      method: 'HEAD',
      headers: { range: 'bytes=0-0' },
    });
    expect([answer.status, answer.headers['content-length']]).toEqual([200, String(BYTES)]);
  });
});

describe('an original that is missing from storage', () => {
  it('answers 500 internal to GET and HEAD, unbilled, and is not looked for again for 30 seconds', async () => {
    const { content } = stack;
    await db.query("update file_revisions set object_key = object_key || '-gone'");
    const [row] = await db.query<{ object_key: string }>(
      `select object_key from file_revisions join files using (file_id) where project_id = $1`,
      [project.project_id],
    );
    const ask = async (method: string) =>
      (await host.get(project.project_slug, PATH, { method })).status;
    expect([await ask('GET'), await ask('HEAD')]).toEqual([500, 500]);
    await content.write(row?.object_key ?? '', bytes, { content_type: 'image/png' });
    host.clock.advance(29);
    expect([await ask('GET'), await ask('HEAD')]).toEqual([500, 500]);
    expect(await usage()).toBeUndefined();
    host.clock.advance(2);
    expect(await ask('HEAD')).toBe(200);
  });
});

describe('an original whose stream ends midway', () => {
  it.each([
    ['fails', true],
    ['is shorter than published', false],
  ])(
    '(%s) aborts the connection, so that a part never looks complete, and is not billed',
    async (_how, isError) => {
      const { content } = stack;
      const half = () =>
        Readable.from(
          (async function* () {
            yield bytes.subarray(0, 1_000_000);
            if (isError) throw new Error('the disk fails');
          })(),
        );
      const broken = await startDeliveryHost({
        db,
        wall_clock_ms: 0,
        content: { ...content, open: async () => half() },
      });
      await expect(broken.get(project.project_slug, PATH)).rejects.toThrow();
      await broken.close();
      expect(await usage()).toBeUndefined();
    },
  );
});

describe('an original whose stream fails before the first byte', () => {
  it.each([
    [
      'away',
      (stream: Readable) => stream.destroy(new ServiceError('storage_unavailable')),
      503,
      'busy',
    ],
    ['broken', (stream: Readable) => stream.destroy(new Error('the disk fails')), 500, 'internal'],
    ['closed', (stream: Readable) => stream.destroy(), 500, 'internal'],
    ['empty', (stream: Readable) => stream.push(null), 500, 'internal'],
  ])('(%s) is answered with an error, uncached and unbilled', async (_how, fail, status, code) => {
    const opened = new Readable({
      read() {
        fail(this);
      },
    });
    const failing = await startDeliveryHost({
      db,
      wall_clock_ms: 0,
      content: { ...stack.content, open: async () => opened },
    });
    const answer = await failing.get(project.project_slug, PATH);
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(answer.headers['cache-control']).toBe('no-store');
    await failing.close();
    expect(await usage()).toBeUndefined();
  });

  it('(silent) is closed if its viewer disconnects', async () => {
    const opened = new Readable({ read: () => undefined });
    const opening = vi.fn(async () => opened);
    const silent = await startDeliveryHost({
      db,
      wall_clock_ms: 0,
      content: { ...stack.content, open: opening },
    });
    const socket = await open(silent);
    await expect.poll(() => opening.mock.calls.length).toBe(1);
    socket.destroy();
    await expect.poll(() => opened.destroyed).toBe(true);
    await silent.close();
    expect(await usage()).toBeUndefined();
  });
});

describe('a response whose headers cannot be built', () => {
  it('becomes 500 internal, uncached and unbilled, and the image stream is closed', async () => {
    const clock = createManualClock();
    let isOpen = false;
    const failing = await startDeliveryHost({
      db,
      wall_clock_ms: 0,
      content: {
        ...stack.content,
        open: async (key) => {
          isOpen = true;
          return watch(await stack.content.open(key));
        },
      },
      clock: {
        now: () => {
          if (!isOpen) return clock.now();
          isOpen = false;
          throw new Error('the clock fails');
        },
      },
    });
    const answer = await failing.get(project.project_slug, PATH);
    expect([answer.status, answer.code]).toEqual([500, 'internal']);
    expect(answer.headers['cache-control']).toBe('no-store');
    await expect.poll(() => seen.isClosed).toBe(true);
    await failing.close();
    expect(await usage()).toBeUndefined();
  });
});
