// Many clients write one resource concurrently, as pipelines and people do: the last write takes effect, and the
// operator conflicts with none of them.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { kubeOk } from '../support/kube-request.ts';
import { type Live, newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });
const { apply, countPasses, led, path, plane, read, untilReason } = cluster;

type Declared = { spec: { displayName: string } };

const WRITERS = 50;
const STORM_MS = 5000;
/** All writers together write a hundred times per second, if the machine is fast enough. */
const PAUSE_MS = 500;

async function countConflicts(): Promise<number> {
  const printed = await cluster.metrics().print();
  const lines = printed.matchAll(/^rest_client_requests_total\{code="409".*\} (\d+)$/gm);
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

it('a spec that fifty writers change concurrently takes effect as last written, without a conflict', async () => {
  const slug = newSlug();
  const write = (displayName: string) =>
    kubeOk(plane(), {
      method: 'PATCH',
      path: path('Project', slug),
      content_type: 'application/merge-patch+json',
      body: { spec: { displayName } },
    });
  await apply('Project', slug, { displayName: 'Shop' });
  await led(async () => {
    await untilReason('Project', slug, 'InSync');
    const before = await countPasses();
    const over = performance.now() + STORM_MS;
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let times = 0; performance.now() < over; times += 1) {
        await write(`Shop ${writer} ${times}`);
        await sleep(PAUSE_MS * Math.random() * 2);
      }
    });
    await Promise.all(writers);
    await until(async () => {
      const { spec, metadata, status } = (await read('Project', slug)) as Live & Declared;
      expect((await findProjectBySlug(db, slug))?.name).toBe(spec.displayName);
      expect(status.observedGeneration).toBe(metadata.generation);
    });
    await untilReason('Project', slug, 'InSync');
    const passes = (await countPasses()) - before;
    expect(passes).toBeGreaterThan(3);
    expect(await countConflicts()).toBe(0);
  });
}, 120_000);
