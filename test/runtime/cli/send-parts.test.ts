// Sends the parts of a large file to a storage that rejects parts or drops connections.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { createApi } from '../../../runtime/cli/api-client.ts';
import { partsOf, sendParts } from '../../../runtime/cli/send-parts.ts';
import { closeHttp } from '../../support/close-http.ts';

const SIZE = 10;
const PART = 3;

let folder: string;
let url: string;
const stored = new Map<string, string>();
/** Requests per path. */
const asked = new Map<string, number>();

type Behavior = 'refuse' | 'break' | 'take';

/**
 * Storage and API in one: PUT /part/<n>/<generation>, and POST, which signs URLs of a new
 * generation.
 */
async function startStorage(
  behaviorOf: (path: string, times: number) => Behavior | Promise<Behavior>,
) {
  let generation = 0;
  const listener: RequestListener = async (request, response) => {
    const path = request.url ?? '';
    if (request.method === 'POST') {
      generation += 1;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ parts: partsAt(generation) }));
      return;
    }
    const bytes = await buffer(request).catch(() => Buffer.alloc(0));
    const times = (asked.get(path) ?? 0) + 1;
    asked.set(path, times);
    const behavior = await behaviorOf(path, times);
    if (behavior === 'break') return void request.socket.destroy();
    if (behavior === 'take') stored.set(path.split('/')[2] ?? '', bytes.toString());
    response.writeHead(behavior === 'take' ? 200 : 403, { etag: `"${path}"` }).end();
  };
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    await closeHttp(server);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function partsAt(generation: number) {
  return [1, 2, 3, 4].map((part_number) => ({
    part_number,
    url: `${url}/part/${part_number}/${generation}`,
  }));
}

async function send() {
  const file = join(folder, 'large');
  await writeFile(file, '0123456789');
  const sentUpTo: number[] = [];
  const parts = await sendParts(
    { part_size: PART, parts: partsAt(0) },
    {
      api: createApi(url, () => ({})),
      path: '/upload',
      file,
      size_bytes: SIZE,
      onSent: (bytes) => sentUpTo.push(bytes),
    },
  );
  return { parts, sentUpTo };
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-parts-'));
  stored.clear();
  asked.clear();
});

afterEach(() => rm(folder, { recursive: true }));

it('sendParts sends every part once, and returns the ETag of each', async () => {
  await startStorage(() => 'take');
  const { parts, sentUpTo } = await send();
  expect(Object.fromEntries(stored)).toEqual({ 1: '012', 2: '345', 3: '678', 4: '9' });
  expect(parts.toSorted((a, b) => a.part_number - b.part_number)).toEqual(
    [1, 2, 3, 4].map((part_number) => ({ part_number, etag: `"/part/${part_number}/0"` })),
  );
  expect(Math.max(...sentUpTo)).toBe(SIZE);
});

it('sendParts sends a part again to the same URL if the connection breaks', async () => {
  await startStorage((path, times) => (path === '/part/2/0' && times < 3 ? 'break' : 'take'));
  await send();
  expect([stored.get('2'), asked.get('/part/2/0')]).toEqual(['345', 3]);
});

it('sendParts sends a part again to a new URL if it is refused', async () => {
  await startStorage((path) => (path === '/part/3/0' ? 'refuse' : 'take'));
  const { parts } = await send();
  expect(parts.find(({ part_number }) => part_number === 3)?.etag).toBe('"/part/3/1"');
  expect(stored.get('3')).toBe('678');
});

it('sendParts fails when a part is refused three times, and begins no other part', async () => {
  const later = Promise.withResolvers<Behavior>();
  await startStorage((path) => (path.startsWith('/part/1/') ? 'refuse' : later.promise));
  await expect(send()).rejects.toThrow(/storage refused the bytes \(403\)/);
  expect([...asked.keys()].filter((path) => path.startsWith('/part/1/'))).toHaveLength(3);
  later.resolve('take');
  await expect.poll(() => [stored.get('2'), stored.get('3')]).toEqual(['345', '678']);
  // Whoever went on would be here before it.
  for (let turn = 0; turn < 3; turn += 1) await fetch(`${url}/part/9/9`, { method: 'PUT' });
  expect([...asked.keys()].filter((path) => path.startsWith('/part/4/'))).toEqual([]);
});

it.each([
  [1, undefined],
  [16 * 1024 * 1024, undefined],
  [16 * 1024 * 1024 + 1, 3],
  [250_000_000, 30],
])('a file of %i bytes is split into parts: %s', (bytes, parts) => {
  expect(partsOf(bytes).parts).toBe(parts);
});
