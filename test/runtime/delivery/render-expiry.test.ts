// A render that no worker takes, over a real RabbitMQ: the broker drops the call at its deadline, the viewer gets 504,
// and a worker that starts later finds no call. Spec: Delivery refusals in checking order (render_timeout).
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { RENDER_DEADLINE_SECONDS } from '../../../runtime/core/limits.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import type { Lane } from '../../../runtime/worker/lanes.ts';
import { startRenderLane } from '../../../runtime/worker/render/render-lane.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { onRealServers } from '../../support/delivery-stack.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
onRealServers();
let host: DeliveryHost;
let project: ProjectRow;
let lane: Lane | undefined;
const taken: string[] = [];
let late_ms = 0;

beforeAll(async () => {
  host = await startDeliveryHost({ db: { query }, wall_clock_ms: 0 });
  project = await makeProject(db);
  const bytes = await over(photograph(320, 240)).jpeg().toBuffer();
  const image = { bytes, width: 320, height: 240, content_type: 'image/jpeg' as const };
  await publishImage({ db, content: host.content }, project, { image, file_slug: 'cat' });
});
afterAll(async () => {
  await lane?.stop();
  await host.close();
});

/**
 * Getting the lease takes all but four seconds of the deadline: enough to see the call in the
 * queue.
 */
const query: typeof db.query = (text, values) => {
  if (text.includes('insert into render_leases')) late_ms = (RENDER_DEADLINE_SECONDS - 4) * 1000;
  return db.query(text, values);
};

/** A worker that records the results of its renders. */
const startLane = () =>
  startRenderLane({
    db,
    queue: host.queue,
    clock: host.clock,
    log: createLog({ level: 'silent', name: 'test' }),
    buckets: { content: host.content, ingest: host.content },
    metrics: {
      ingest: () => undefined,
      decoderKilled: () => undefined,
      registerSources: () => undefined,
      render: ({ result }) => void taken.push(result),
    },
  });

async function waiting(): Promise<number | undefined> {
  const depths = await host.queue.depths();
  return depths.find(({ queue }) => queue === 'tintype.render.calls')?.waiting;
}

async function metered(): Promise<number> {
  await host.meter.flush();
  return (await db.query('select 1 from usage_batch_rows')).length;
}

it('a render that no worker takes answers 504 render_timeout, unbilled, and leaves no call queued', async () => {
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + late_ms);
  const get = () => host.get(project.project_slug, '/resize/40x/f/cat');
  const asked = get();
  await expect.poll(waiting).toBe(1);
  const { status, code, headers } = await asked;
  expect([status, code, headers['cache-control']]).toEqual([504, 'render_timeout', 'no-store']);
  clock.mockRestore();
  expect(await metered()).toBe(0);
  await expect.poll(waiting).toBe(0);
  lane = await startLane();
  expect((await get()).status).toBe(200);
  expect(taken).toEqual(['done']);
  expect(await metered()).toBe(1);
}, 300_000);
