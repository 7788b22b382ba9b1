import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RenderRequest } from '../../../runtime/core/delivery/render-request.ts';
import { RENDER_DEADLINE_SECONDS } from '../../../runtime/core/limits.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { acquireRenderLease, updateRenderLeaseStored } from '../../../runtime/db/render-leases.ts';
import { renderOnce } from '../../../runtime/delivery/render-once.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { type Queue, QueueBusy, QueueTimeout } from '../../../runtime/platform/queue/queue.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage, type StoredImage } from '../../support/delivered.ts';
import { type DeliveryHost, ROOT_DOMAIN, startDeliveryHost } from '../../support/delivery-host.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
/** Two delivery processes with a worker each, sharing a storage and a database. */
let one: DeliveryHost;
let other: DeliveryHost;
let picture: StoredImage;
let project: ProjectRow;

beforeAll(async () => {
  one = await startDeliveryHost({ db });
  const { content } = one;
  other = await startDeliveryHost({ db, content, worker_content: content });
  const bytes = await over(photograph(1600, 1200)).png().toBuffer();
  picture = { bytes, width: 1600, height: 1200, content_type: 'image/png' };
});
afterAll(async () => {
  await other.close();
  await one.close();
});
beforeEach(async () => {
  project = await makeProject(db);
  await publishImage({ db, content: one.content }, project, { image: picture, file_slug: 'cat' });
  for (const host of [one, other]) host.renders.length = 0;
});

const PATH = '/resize/700x/format/webp/f/cat';
const leases = () =>
  db.query<{ derived_key: string; lease_id: string; is_stored: boolean }>(
    `select derived_key, lease_id, stored_at is not null as is_stored from render_leases
     where derived_key like $1`,
    [`derived/${project.project_id}/%`],
  );

describe('an image that is not yet rendered', () => {
  it('is rendered once for 200 concurrent viewers of two processes', async () => {
    const asking = Array.from({ length: 200 }, (_, at) =>
      (at % 2 === 0 ? one : other).get(project.project_slug, PATH),
    );
    const answers = await Promise.all(asking);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.toString('latin1'))).size).toBe(1);
    expect([...one.renders, ...other.renders]).toEqual(['done']);
  });

  it('is rendered by a waiting process if another one gives up its lease', async () => {
    const derived_key = await keyOf(PATH);
    const { watched, asked } = watchLeases();
    const host = await startDeliveryHost({ db: watched, ...sharing() });
    await acquireRenderLease(db, { derived_key, lease_id: 'other', lease_seconds: 60 });
    const waiting = host.get(project.project_slug, PATH);
    await expect.poll(asked).toBeGreaterThan(1);
    expect(host.renders).toEqual([]);
    await db.query('delete from render_leases where derived_key = $1', [derived_key]);
    expect((await waiting).status).toBe(200);
    expect(host.renders).toEqual(['done']);
    await host.close();
  });

  it('is rendered for the next request if its lease has expired', async () => {
    const derived_key = await keyOf(PATH);
    await acquireRenderLease(db, { derived_key, lease_id: 'dead', lease_seconds: 0 });
    expect((await one.get(project.project_slug, PATH)).status).toBe(200);
    expect(one.renders).toEqual(['done']);
  });

  it('is rendered again if it was stored but is gone', async () => {
    const derived_key = await keyOf(PATH);
    await acquireRenderLease(db, { derived_key, lease_id: 'done', lease_seconds: 60 });
    await updateRenderLeaseStored(db, { derived_key, told_seconds: 60 });
    expect((await one.get(project.project_slug, PATH)).status).toBe(200);
    expect(one.renders).toEqual(['done']);
  });

  it('is rendered by one process while others wait if it was stored long ago but is gone', async () => {
    const derived_key = await keyOf(PATH);
    const lease = (lease_id: string) => ({ derived_key, lease_id, lease_seconds: 60 });
    await acquireRenderLease(db, lease('done'));
    await updateRenderLeaseStored(db, { derived_key, told_seconds: -1 });
    expect(await acquireRenderLease(db, lease('mine'))).toBe('mine');
    expect(await acquireRenderLease(db, lease('other'))).toBe('held');
  });

  it('has a lease that ends later than its holder waits for the render', async () => {
    const [before] = await db.query<{ at: Date }>('select clock_timestamp() as at');
    const seen: { waits_ms: number; ends_at: Date | undefined }[] = [];
    const queue = calling(async (_name, _payload, { deadline_ms }) => {
      const [lease] = await db.query<{ expires_at: Date }>('select expires_at from render_leases');
      seen.push({ waits_ms: deadline_ms, ends_at: lease?.expires_at });
      throw new QueueBusy('render', 7);
    });
    const host = await startDeliveryHost({ db, ...sharing(), queue, wall_clock_ms: 0 });
    await db.query('delete from render_leases');
    await host.get(project.project_slug, PATH);
    await host.close();
    const [{ waits_ms, ends_at } = { waits_ms: 0, ends_at: undefined }] = seen;
    expect(waits_ms).toBeGreaterThan(0);
    const lasts_ms = Number(ends_at) - Number(before?.at);
    expect(lasts_ms).toBeGreaterThan(waits_ms);
  });

  it('gives its lease back immediately if its render is refused', async () => {
    const queue = calling(() => Promise.reject(new QueueBusy('render', 7)));
    const host = await startDeliveryHost({ db, ...sharing(), queue, wall_clock_ms: 0 });
    const answer = await host.get(project.project_slug, PATH);
    expect([answer.code, answer.headers['retry-after']]).toEqual(['busy', '7']);
    expect(await leases()).toEqual([]);
    await host.close();
  });

  it('leaves the lease to a process that has taken it over if its own render is refused', async () => {
    const other_one = { lease_id: 'other', lease_seconds: 60 };
    const takenOver = async () => {
      const [{ derived_key } = { derived_key: '' }] = await leases();
      await db.query(
        `update render_leases set expires_at = now() - interval '1 second' where derived_key = $1`,
        [derived_key],
      );
      expect(await acquireRenderLease(db, { derived_key, ...other_one })).toBe('mine');
      throw new QueueBusy('render', 7);
    };
    const queue = calling(takenOver);
    const host = await startDeliveryHost({ db, ...sharing(), queue, wall_clock_ms: 0 });
    expect((await host.get(project.project_slug, PATH)).code).toBe('busy');
    expect((await leases()).map(({ lease_id }) => lease_id)).toEqual(['other']);
    await host.close();
  });

  it('is reported as stored to the next request even if the reply of the worker was lost', async () => {
    const asked = { lease_id: 'next', lease_seconds: 60 };
    const [derived_key, told_seconds] = [await keyOf(PATH), 60];
    const storedUnheard = async () => {
      await updateRenderLeaseStored(db, { derived_key, told_seconds });
      throw new QueueTimeout('render', 15_000);
    };
    const queue = calling(storedUnheard);
    const host = await startDeliveryHost({ db, ...sharing(), queue, wall_clock_ms: 0 });
    expect((await host.get(project.project_slug, PATH)).code).toBe('render_timeout');
    expect(await acquireRenderLease(db, { derived_key, ...asked })).toBe('stored');
    await host.close();
  });

  it('is rendered without a lease if the database cannot grant one', async () => {
    const { watched } = watchLeases(() => Promise.reject(new Error('away')));
    const host = await startDeliveryHost({ db: watched, ...sharing() });
    expect((await host.get(project.project_slug, PATH)).status).toBe(200);
    expect(host.renders).toEqual(['done']);
    await host.close();
  });

  it('is left to the next request if its lease is granted only after the deadline of its viewers', async () => {
    const derived_key = await keyOf(PATH);
    const dead = { derived_key, lease_id: 'dead', lease_seconds: 60 };
    expect(await acquireRenderLease(db, dead)).toBe('mine');
    const deadline_ms = RENDER_DEADLINE_SECONDS * 1000;
    const clock = vi.spyOn(performance, 'now');
    const query: typeof db.query = async (text, values) => {
      await db.query('delete from render_leases where lease_id = $1', ['dead']);
      const began = performance.now();
      clock.mockImplementation(() => began + deadline_ms);
      return db.query(text, values);
    };
    const log = createLog({ level: 'silent', name: 'test' });
    const deps = { db: { query }, content: one.content, queue: one.queue, log };
    const given = await renderOnce(deps, requestOf(derived_key), new AbortController().signal);
    clock.mockRestore();
    expect(given).toEqual({ outcome: 'render_timeout' });
    expect(await leases()).toEqual([]);
  });

  it('is no longer asked for once all its viewers have disconnected', async () => {
    const derived_key = await keyOf(PATH);
    const { watched, asked } = watchLeases();
    const host = await startDeliveryHost({ db: watched, ...sharing() });
    await acquireRenderLease(db, { derived_key, lease_id: 'other', lease_seconds: 60 });
    const viewers = [leaving(host), leaving(host)];
    await expect.poll(asked).toBeGreaterThan(0);
    viewers[0]?.destroy();
    const before = asked();
    await expect.poll(asked).toBeGreaterThan(before);
    viewers[1]?.destroy();
    const left = /^tintype_delivery_request_seconds_count\{status="499".*\} 2$/m;
    await expect.poll(async () => (await host.metrics.print()).text).toMatch(left);
    // The spool creates its files with the first line of usage.
    expect(readdirSync(host.spool_folder), 'usage').toEqual([]);
    await db.query('delete from render_leases where derived_key = $1', [derived_key]);
    const after = asked();
    // Waiting requests retry at least every 200 ms; there is no signal that they have stopped.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([asked(), host.renders]).toEqual([after, []]);
    await host.close();
  });
});

const sharing = () => ({ content: one.content, worker_content: one.content });

/** The queue of `one` with another `call`; closing it leaves the real one open. */
const calling = (call: Queue['call']): Queue => ({
  ...one.queue,
  call,
  close: () => Promise.resolve(),
});

/** The database with its lease requests counted, or replaced by `instead`. */
function watchLeases(instead?: () => Promise<never>) {
  let count = 0;
  const query: typeof db.query = (text, values) => {
    if (!text.includes('insert into render_leases')) return db.query(text, values);
    count += 1;
    return instead === undefined ? db.query(text, values) : instead();
  };
  return { watched: { ...db, query }, asked: () => count };
}

function leaving(host: DeliveryHost): Socket {
  const socket = connect({ port: host.port, host: '127.0.0.1' });
  socket.write(`GET ${PATH} HTTP/1.1\r\nHost: ${project.project_slug}.${ROOT_DOMAIN}\r\n\r\n`);
  return socket;
}

function requestOf(derived_key: string): RenderRequest {
  const window = { x: 0, y: 0, width: 1, height: 1 };
  const shape = { window, output: { width: 1, height: 1 }, format: 'webp' as const };
  const plan = { ...shape, quality: null, watermark: null };
  return { project_id: project.project_id, derived_key, source_key: '', window, cost_ms: 1, plan };
}

/** The image's derived key, in the state before any request for it. */
async function keyOf(path: string): Promise<string> {
  await other.get(project.project_slug, path);
  // Otherwise the worker's late update would mark the next lease as stored.
  await expect.poll(leases).toMatchObject([{ is_stored: true }]);
  const [{ derived_key: key } = { derived_key: '' }] = await leases();
  await db.query('delete from render_leases where derived_key = $1', [key]);
  await one.content.delete(key);
  other.renders.length = 0;
  return key;
}
