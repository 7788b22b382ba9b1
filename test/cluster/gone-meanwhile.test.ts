// A resource without rows is deleted during its pass: there is no status to write, and no error.
import { expect, it } from 'vitest';
import type { KubeClient } from '../../operator/kube/client.ts';
import { useDatabase } from '../support/database.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
/** Deleted before its first status is written. */
const doomed = newSlug();
const cluster = useTenantCluster({ db, wrap: deletingFirst });
const { apply, countPasses, led, metrics, remove, untilGone } = cluster;

function deletingFirst(client: KubeClient): KubeClient {
  return {
    ...client,
    applyStatus: async (...asked) => {
      const [, { metadata }] = asked;
      if (metadata.name === doomed) await remove('SigningKey', doomed).catch(() => undefined);
      return client.applyStatus(...asked);
    },
  };
}

it('a resource that is deleted before its status is written does not make the pass fail', async () => {
  await led(async () => {
    await apply('SigningKey', doomed, { projectRef: { name: 'nowhere' } });
    await untilGone('SigningKey', doomed);
    const passes = await countPasses('SigningKey');
    await apply('SigningKey', newSlug(), { projectRef: { name: 'nowhere' } });
    await until(async () => expect(await countPasses('SigningKey')).toBeGreaterThan(passes));
  });
  expect(await metrics().print()).not.toMatch(/reconcile_total\{.*result="error".*\} [1-9]/);
});
