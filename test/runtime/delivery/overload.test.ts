// Renders that are too many, too slow or no longer wanted, seen by viewers: a delivery server, the queue and a worker's
// render lane, with a storage that tests can hold. Spec: Delivery refusals in checking order; Metering.
import { type ClientRequest, request as sendRequest } from 'node:http';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import type { Queue } from '../../../runtime/platform/queue/queue.ts';
import type { Bucket } from '../../../runtime/platform/storage/bucket.ts';
import type { Lane, LaneOptions } from '../../../runtime/worker/lanes.ts';
import { startRenderLane } from '../../../runtime/worker/render/render-lane.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage, type StoredImage } from '../../support/delivered.ts';
import { type DeliveryHost, ROOT_DOMAIN, startDeliveryHost } from '../../support/delivery-host.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let host: DeliveryHost;
let picture: StoredImage;
let loud: ProjectRow;
let quiet: ProjectRow;
let lane: Lane;
/** Holds the worker's reads. */
let gate: { isOpen: Promise<void>; open(): void };
/** The signal of each call that reached the worker. */
const signals: AbortSignal[] = [];
const countGivenUp = () => signals.filter(({ aborted }) => aborted).length;

beforeAll(async () => {
  const bytes = await over(photograph(320, 240)).png().toBuffer();
  picture = { bytes, width: 320, height: 240, content_type: 'image/png' };
});
beforeEach(async () => {
  host = await startDeliveryHost({ db, wall_clock_ms: 0 });
  [loud, quiet] = [await makeProject(db), await makeProject(db)];
  for (const project of [loud, quiet]) {
    await publishImage({ db, content: host.content }, project, {
      image: picture,
      file_slug: 'cat',
    });
  }
  gate = closedGate();
});
afterEach(async () => {
  gate.open();
  await lane.stop();
  await host.close();
});

/** One render in the slot, and one whose source is read ahead. */
const SEATS = 2;
const WAITING_MAX = 2;
const ROOM = SEATS + WAITING_MAX;

async function startLane(render: Partial<LaneOptions> = {}): Promise<void> {
  const { content, queue } = host;
  signals.length = 0;
  const serve: Queue['serve'] = (name, options, handle) =>
    queue.serve(name, options, (payload, signal) => {
      signals.push(signal);
      return handle(payload, signal);
    });
  const read: Bucket['read'] = async (key, place) => {
    await gate.isOpen;
    return content.read(key, place);
  };
  lane = await startRenderLane({
    db,
    queue: { ...queue, serve },
    clock: host.clock,
    log: createLog({ level: 'silent', name: 'test' }),
    buckets: { content: { ...content, read }, ingest: content },
    render: { slots: 1, ...render },
    render_waiting_max: WAITING_MAX,
  });
}

const get = (project: ProjectRow, path: string) => host.get(project.project_slug, path);
const cold = (width: number) => `/resize/${width}x/f/cat`;
/** One request more than there is room for. */
const tooMany = () => Array.from({ length: ROOM + 1 }, (_, at) => get(loud, cold(at + 1)));
const statusesOf = async (asked: readonly Promise<{ status: number }>[]) =>
  (await Promise.all(asked)).map(({ status }) => status).sort();

describe('renders beyond the capacity', () => {
  it('are refused immediately with 503 busy and Retry-After, and are not metered', async () => {
    await startLane();
    const asked = tooMany();
    const refused = await Promise.race(asked);
    expect([refused.status, refused.code]).toEqual([503, 'busy']);
    expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(refused.headers['cache-control']).toBe('no-store');
    expect(JSON.parse(refused.body.toString())).toEqual({
      error: { code: 'busy', message: expect.any(String) },
    });
    gate.open();
    expect(await statusesOf(asked)).toEqual([200, 200, 200, 200, 503]);
    expect(await requestsOf(loud)).toBe(ROOM);
  });

  it('do not affect requests that need no render', async () => {
    gate.open();
    await startLane();
    const hit = await get(loud, cold(9));
    gate = closedGate();
    const asked = tooMany();
    expect((await Promise.race(asked)).status).toBe(503);
    const again = await get(loud, cold(9));
    expect([again.status, again.body.equals(hit.body)]).toEqual([200, true]);
    expect((await get(loud, '/originals/f/cat')).status).toBe(200);
    const headers = { 'if-none-match': String(hit.headers.etag) };
    const unchanged = await host.get(loud.project_slug, cold(9), { headers });
    expect(unchanged.status).toBe(304);
    gate.open();
    await Promise.all(asked);
  });

  it('of one project make room for the first render of another', async () => {
    await startLane();
    const asked = tooMany();
    expect((await Promise.race(asked)).status).toBe(503);
    const other = get(quiet, cold(1));
    await expect.poll(() => countSettled(asked)).toBe(2);
    gate.open();
    expect((await other).status).toBe(200);
    expect(await statusesOf(asked)).toEqual([200, 200, 200, 503, 503]);
  });
});

describe('a render whose viewers have disconnected', () => {
  it('gives up its place in the queue', async () => {
    await startLane();
    const running = [1, 2].map((width) => get(loud, cold(width)));
    await expect.poll(() => signals.length).toBe(SEATS);
    const waiting = [3, 4].map((width) => visit(loud, cold(width)));
    await expect.poll(() => signals.length).toBe(ROOM);
    expect((await get(loud, cold(5))).status).toBe(503);
    for (const viewer of waiting) viewer.destroy();
    await expect.poll(countGivenUp).toBe(WAITING_MAX);
    const others = [6, 7, 8].map((width) => get(loud, cold(width)));
    expect((await Promise.race(others)).status).toBe(503);
    gate.open();
    expect(await statusesOf([...running, ...others])).toEqual([200, 200, 200, 200, 503]);
    await expect.poll(() => derivedOf(loud)).toBe(ROOM);
  });

  it('is canceled, unless another viewer still waits for it', async () => {
    await startLane();
    const viewers = [1, 2].map((width) => visit(loud, cold(width)));
    const staying = get(loud, cold(2));
    await expect.poll(() => signals.length).toBe(SEATS);
    for (const viewer of viewers) viewer.destroy();
    await expect.poll(countGivenUp).toBe(1);
    gate.open();
    expect((await staying).status).toBe(200);
    await expect.poll(() => derivedOf(loud)).toBe(1);
    await expect.poll(() => leasesOf(loud)).toBe(0);
  });
});

it('a render that hangs is answered with 504 render_timeout, unbilled, and the next one can start', async () => {
  gate.open();
  const entry = new URL('../../support/hanging-decoder.ts', import.meta.url);
  await startLane({ entry, wall_clock_ms: 300 });
  for (const width of [1, 2]) {
    const answer = await get(loud, cold(width));
    expect([answer.status, answer.code]).toEqual([504, 'render_timeout']);
    expect(answer.headers['cache-control']).toBe('no-store');
  }
  expect(await requestsOf(loud)).toBe(0);
});

function closedGate(): typeof gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { isOpen: promise, open: resolve };
}

/** A request that the viewer can abort. */
function visit({ project_slug }: ProjectRow, path: string): ClientRequest {
  const headers = { host: `${project_slug}.${ROOT_DOMAIN}` };
  const { port } = host;
  const request = sendRequest({ host: '127.0.0.1', port, path, headers, agent: false });
  request.on('error', () => undefined).end();
  return request;
}

async function countSettled(all: readonly Promise<unknown>[]): Promise<number> {
  const states = await Promise.all(all.map((one) => Promise.race([one, PENDING])));
  return states.filter((state) => state !== PENDING_STATE).length;
}

const PENDING_STATE = Symbol('pending');
const PENDING = Promise.resolve(PENDING_STATE);

async function requestsOf({ project_id }: ProjectRow): Promise<number> {
  await host.meter.flush();
  const [row] = await db.query<{ requests: number }>(
    `select coalesce(sum(requests), 0)::int as requests from usage_batch_rows where project_id = $1`,
    [project_id],
  );
  return row?.requests ?? 0;
}

async function leasesOf({ project_id }: ProjectRow): Promise<number> {
  const rows = await db.query(
    `select from render_leases where stored_at is null and derived_key like $1`,
    [`derived/${project_id}/%`],
  );
  return rows.length;
}

async function derivedOf({ project_id }: ProjectRow): Promise<number> {
  return (await host.content.list({ prefix: `derived/${project_id}/`, limit: 100 })).length;
}
