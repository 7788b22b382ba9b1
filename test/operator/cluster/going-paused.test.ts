// Resources that are deleted while the paused annotation is set. Spec: Resources and their fields.
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTenantControllers } from '../../../operator/cluster/tenant-controllers.ts';
import type { TenantObject } from '../../../operator/cluster/tenant-object.ts';
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import { systemTimedClock as clock } from '../../../operator/kube/timed-clock.ts';
import { useDatabase } from '../../support/database.ts';
import { silentLog as log } from '../kube/silent-log.ts';
import { createFakeCluster } from './fake-cluster.ts';

const { db } = useDatabase();

const paused = (name: string, spec: NonNullable<TenantObject['spec']>): TenantObject => ({
  metadata: {
    ...{ name, namespace: 'team', uid: name, resourceVersion: '1', generation: 1 },
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['tintype.dev/rows'],
    annotations: { 'tintype.dev/paused': 'true' },
  },
  spec,
});

it('a paused project and its paused preset do not wake each other endlessly while both are deleted', async () => {
  const cluster = createFakeCluster([
    { kind: 'Project', object: paused('shop', { slug: 'shop' }) },
    { kind: 'WatermarkPreset', object: paused('logo', { projectRef: { name: 'shop' } }) },
  ]);
  const kubeMetrics = createKubeMetrics();
  let passes = 0;
  const metrics = {
    ...kubeMetrics,
    reconciled: (seen: Parameters<typeof kubeMetrics.reconciled>[0]) => {
      passes += 1;
      kubeMetrics.reconciled(seen);
    },
  };
  const controllers = createTenantControllers({
    ...{ caches: cluster.caches, clock, log, metrics, namespaces: [] },
    context: {
      ...{ client: cluster.client, clock, events: { record: () => undefined } },
      findRootDomain: () => undefined,
      sealing: { keyIds: ['k1'], seal: () => Buffer.of(), open: () => Buffer.of() },
      findOrganization: async () => 'organization',
    },
  });
  const over = new AbortController();
  const leading = controllers.lead({
    epoch: 1,
    lease_uid: 'lease',
    signal: over.signal,
    isCurrent: () => true,
    raised: async () => undefined,
    db,
  });
  const isTold = (kind: 'Project' | 'WatermarkPreset', key: string) =>
    cluster.find(kind, key)?.status?.conditions?.some(({ type }) => type === 'Paused');
  await expect
    .poll(() => isTold('Project', 'team/shop') && isTold('WatermarkPreset', 'team/logo'))
    .toBe(true);
  for (let turns = 0; turns < 200; turns += 1) await setImmediate();
  expect(passes).toBeLessThan(10);
  over.abort();
  await leading;
});
