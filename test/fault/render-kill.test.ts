/**
 * Processes die in the middle of a render, in a deployment where delivery calls a worker through RabbitMQ, a decoder
 * renders, and S3 stores. The viewer gets the image or a correct error, and the next viewer gets the image.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import { createLog } from '../../runtime/platform/log.ts';
import { createRabbitQueue } from '../../runtime/platform/queue/rabbitmq.ts';
import { useDatabase } from '../support/database.ts';
import { decoderPids, isRunning, ticksOf } from '../support/decoder-processes.ts';
import { publishImage } from '../support/delivered.ts';
import { type Answer, type DeliveryHost, startDeliveryHost } from '../support/delivery-host.ts';
import { over, seededRandom } from '../support/pictures.ts';
import { makeProject } from '../support/rows.ts';
import { type Broker, takeVirtualHost } from '../support/shared-broker.ts';
import { endWell, type Spawned, startProgram, untilReady } from './support/spawned.ts';
import { makeStorage, type TestStorage } from './support/storages.ts';
import type { TakingWords } from './support/taking-worker.ts';

const { db, url } = useDatabase({ maxConnections: 20 });
const soon = { timeout: 60_000, interval: 20 };
let broker: Broker;
let storage: TestStorage;
let host: DeliveryHost;
let worker: Spawned;
let project: ProjectRow;

beforeAll(async () => {
  [broker, storage] = await Promise.all([takeVirtualHost(), makeStorage('S3')]);
  const log = createLog({ level: 'silent', name: 'test' });
  const queue = await createRabbitQueue({ url: broker.url, log });
  host = await startDeliveryHost({ db, queue, content: storage.buckets.content, wall_clock_ms: 0 });
  worker = await startRenderer();
  startingTicks = await findStartingTicks();
  project = await makeProject(db);
  const bytes = await noise();
  const image = { bytes, width: SIDE, height: SIDE, content_type: 'image/png' as const };
  const at = { db, content: storage.buckets.content };
  await publishImage(at, project, { image, file_slug: 'noise' });
}, 300_000);
afterAll(async () => {
  if (worker !== undefined) await endWell(worker);
  await host?.close();
  await storage?.remove();
});
beforeEach(() =>
  db.query('delete from usage_batch_rows where project_id = $1', [project.project_id]),
);

const SIDE = 900;

/** Noise, because it takes an encoder longest. */
function noise(): Promise<Buffer> {
  const random = seededRandom(7);
  const data = Buffer.from(Array.from({ length: SIDE * SIDE * 3 }, () => random() * 256));
  return over({ data, width: SIDE, height: SIDE, channels: 3 }).png().toBuffer();
}

async function startRenderer(): Promise<Spawned> {
  const words = { url: url(), storage: storage.words, amqpUrl: broker.url };
  const started = startProgram('taking-worker', {
    ...words,
    poll_every_ms: 3_600_000,
    render_slots: 1,
  } satisfies TakingWords);
  await untilReady(started);
  return started;
}

const heavy = (width: number) => `/resize/${width}x/format/avif/quality/95/f/noise`;
const get = (width: number): Promise<Answer> => host.get(project.project_slug, heavy(width));

/** A width that no test has requested yet. */
let newest = 800;
const newWidth = () => {
  newest += 1;
  return newest;
};

const TICKS_OF_A_RENDER = 30;

/** Returns the id of the decoder that has started rendering since `before`. */
async function renderingPid(before: ReadonlyMap<number, number>): Promise<number> {
  const find = () =>
    decoderPids().find(
      (pid) => ticksOf(pid) > (before.get(pid) ?? startingTicks) + TICKS_OF_A_RENDER,
    );
  await expect.poll(find, soon).toBeDefined();
  return find() ?? expect.fail('it has rendered already');
}

/** The CPU ticks that a new decoder uses before it renders, measured with the first one. */
let startingTicks = 0;
const STARTING_SHARE = 1.5;

function findStartingTicks(): Promise<number> {
  let last = 0;
  return vi.waitFor(
    () => {
      const before = last;
      last = Math.max(0, ...ticks().values());
      if (last === 0 || last !== before) throw new Error(`a decoder is still starting: ${last}`);
      return last * STARTING_SHARE;
    },
    { timeout: 60_000, interval: 1000 },
  );
}

const ticks = () => new Map(decoderPids().map((pid) => [pid, ticksOf(pid)]));

async function killOneDecoder(): Promise<void> {
  const pid = await renderingPid(ticks());
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => isRunning(pid), soon).toBe(false);
}

async function metered(): Promise<number> {
  await host.meter.flush();
  const rows = await db.query<{ requests: number }>(
    'select requests::int from usage_batch_rows where project_id = $1',
    [project.project_id],
  );
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

describe('a decoder that is killed while it renders', { timeout: 300_000 }, () => {
  it('is replaced, so that the viewer gets the image and is metered once', async () => {
    const asked = get(newWidth());
    await killOneDecoder();
    expect((await asked).status).toBe(200);
    expect(await metered()).toBe(1);
  });

  it('twice for one request returns 503 busy, unmetered, and the next viewer gets the image', async () => {
    const width = newWidth();
    const asked = get(width);
    await killOneDecoder();
    await killOneDecoder();
    const { status, code, headers } = await asked;
    expect([status, code, headers['retry-after']]).toEqual([503, 'busy', '2']);
    expect(await metered()).toBe(0);
    expect((await get(width)).status).toBe(200);
    expect(await metered()).toBe(1);
  });
});

describe('a worker that is killed while it renders', { timeout: 300_000 }, () => {
  it('ends its decoders too, and its successor renders the image for the next viewer', async () => {
    const width = newWidth();
    const asked = get(width);
    const pid = await renderingPid(ticks());
    worker.child.kill('SIGKILL');
    await worker.ended;
    worker = await startRenderer();
    const { status, code, headers } = await asked;
    const said = status === 200 ? 'image' : `${status} ${code} ${headers['cache-control']}`;
    expect(['image', '503 busy no-store', '504 render_timeout no-store']).toContain(said);
    expect(isRunning(pid)).toBe(false);
    expect((await get(width)).status).toBe(200);
    expect(await metered()).toBe(status === 200 ? 2 : 1);
  });
});
