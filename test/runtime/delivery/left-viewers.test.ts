// Viewers who disconnect before the response: nothing is sent, no stream stays open, and nothing is metered. Spec:
// Metering; Caching and response headers.
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { LOOKUP_CACHE_SECONDS_MAX } from '../../../runtime/core/limits.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import { type DeliveryHost, ROOT_DOMAIN, startDeliveryHost } from '../../support/delivery-host.ts';
import { type DeliveryStack, openStack } from '../../support/delivery-stack.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let host: DeliveryHost;
let stack: DeliveryStack;
let project: ProjectRow;
/** Holds all database queries and storage reads of delivery. */
let gate = Promise.withResolvers<void>();
let waiting = 0;
const opened: Readable[] = [];
const held = async () => {
  waiting += 1;
  await gate.promise;
};

beforeAll(async () => {
  stack = await openStack();
  const { content } = stack;
  host = await startDeliveryHost({
    db: {
      query: async (text, values) => {
        await held();
        return db.query(text, values);
      },
    },
    content: {
      ...content,
      open: async (key, range) => {
        await held();
        const stream = await content.open(key, range);
        if (stream !== undefined) opened.push(stream);
        return stream;
      },
    },
    worker_content: content,
  });
  project = await makeProject(db);
  const bytes = await over(photograph(320, 240)).jpeg().toBuffer();
  const image = { bytes, width: 320, height: 240, content_type: 'image/jpeg' as const };
  await publishImage({ db, content }, project, { image, file_slug: 'cat' });
});
afterAll(async () => {
  await host.close();
  await stack.closeQueues();
  stack.remove();
});
beforeEach(() => {
  gate.resolve();
  opened.length = 0;
});

const get = (path: string) => host.get(project.project_slug, path);
const connections = () =>
  new Promise<number>((resolve) => host.server.getConnections((_, count) => resolve(count)));

async function metered(): Promise<number> {
  await host.meter.flush();
  const [row] = await db.query<{ requests: number }>(
    'select coalesce(sum(requests), 0)::int as requests from usage_batch_rows where project_id = $1',
    [project.project_id],
  );
  return row?.requests ?? 0;
}

/** Responses counted with status 499, for viewers who left. */
async function left(): Promise<number> {
  const { text } = await host.metrics.print();
  const counts = text.matchAll(
    /^tintype_delivery_request_seconds_count\{status="499".*\} (\d+)$/gm,
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Sends a request, and disconnects while the server waits at the gate. */
async function askAndLeave(path: string): Promise<void> {
  gate = Promise.withResolvers<void>();
  waiting = 0;
  const socket = connect({ port: host.port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${project.project_slug}.${ROOT_DOMAIN}\r\n\r\n`);
  await expect.poll(() => waiting).toBeGreaterThan(0);
  socket.destroy();
  await expect.poll(connections).toBe(0);
  gate.resolve();
}

it.each([
  ['an image that is in memory', '/resize/40x/f/cat'],
  ['an original', '/originals/f/cat'],
])('a viewer who disconnects during the lookups is not metered for %s', async (_what, path) => {
  expect((await get(path)).status).toBe(200);
  const before = [await metered(), await left()] as const;
  host.clock.advance(LOOKUP_CACHE_SECONDS_MAX);
  await askAndLeave(path);
  expect((await get(path)).status).toBe(200);
  expect(await metered()).toBe(before[0] + 1);
  await expect.poll(left).toBe(before[1] + 1);
});

it('nothing is rendered for a viewer who disconnects during the lookups', async () => {
  expect((await get('/resize/40x/f/cat')).status).toBe(200);
  const before = await left();
  host.clock.advance(LOOKUP_CACHE_SECONDS_MAX);
  host.renders.length = 0;
  await askAndLeave('/resize/41x/f/cat');
  await expect.poll(left).toBe(before + 1);
  expect(host.renders).toEqual([]);
});

it('a viewer who disconnects before the original is opened leaves no stream open and is not metered', async () => {
  expect((await get('/resize/40x/f/cat')).status).toBe(200);
  const before = await metered();
  await askAndLeave('/originals/f/cat');
  await expect.poll(() => opened.map(({ destroyed }) => destroyed)).toEqual([true]);
  expect(await metered()).toBe(before);
});

it('a viewer who disconnects after receiving the whole original is metered once', async () => {
  const ending = Promise.withResolvers<void>();
  const { content } = stack;
  const whole = over(photograph(320, 240)).jpeg().toBuffer();
  const slow = await startDeliveryHost({
    db,
    wall_clock_ms: 0,
    content: {
      ...content,
      open: async () =>
        Readable.from(
          (async function* () {
            yield await whole;
            await ending.promise;
          })(),
        ),
    },
  });
  const before = await metered();
  const socket = connect({ port: slow.port, host: '127.0.0.1' });
  const host_line = `Host: ${project.project_slug}.${ROOT_DOMAIN}`;
  socket.write(`GET /originals/f/cat HTTP/1.1\r\n${host_line}\r\n\r\n`);
  const { length } = await whole;
  let received = Buffer.alloc(0);
  while (received.length < received.indexOf('\r\n\r\n') + 4 + length) {
    received = Buffer.concat([received, (await once(socket, 'data'))[0]]);
  }
  socket.destroy();
  const isOver = async () => (await slow.metrics.print()).text.includes('status="200"');
  await expect.poll(isOver).toBe(true);
  ending.resolve();
  await slow.close();
  expect(await metered()).toBe(before + 1);
});
