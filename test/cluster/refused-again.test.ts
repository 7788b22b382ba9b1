// How often rejected resources are retried, and what triggers a retry immediately. Spec: Resources and their fields.

import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../runtime/core/durations.ts';
import { useDatabase } from '../support/database.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();

describe('a resource that is refused and does not change', () => {
  const cluster = useTenantCluster({ db, often: { resync_ms: HOUR_MS, retry_ms: 50 } });
  const { apply, countPasses, led, untilReason } = cluster;

  it('is looked at less and less often', async () => {
    const name = newSlug();
    await apply('Project', name, { slug: 'api' });
    await led(async () => {
      await untilReason('Project', name, 'SlugReserved');
      // By then, the delays exceed one second.
      await until(async () => expect(await countPasses()).toBeGreaterThan(6));
      const before = await countPasses();
      await setTimeout(1000);
      expect(await countPasses()).toBeLessThan(before + 3);
    });
  });
});

describe('a resource that is refused', () => {
  /** Long intervals, so that nothing is retried during a test. */
  const cluster = useTenantCluster({ db, often: { resync_ms: HOUR_MS, retry_ms: HOUR_MS } });
  const { apply, led, remove, untilReason } = cluster;

  it('is looked at immediately when the holder of its slug is deleted', async () => {
    const [first, second, slug] = [newSlug(), newSlug(), newSlug()];
    await led(async () => {
      await apply('Project', first, { slug });
      await untilReason('Project', first, 'InSync');
      await apply('Project', second, { slug, adoptionPolicy: 'IfUnowned' });
      await untilReason('Project', second, 'SlugConflict');
      await remove('Project', first);
      await untilReason('Project', second, 'InSync');
    });
  });

  it('is looked at immediately when the holder of its name or of its key is deleted', async () => {
    const [name, other] = [newSlug(), newSlug()];
    const projectRef = { name };
    const recipe = { projectRef, displayName: 'Cover', transformChain: 'resize/9x9' };
    await led(async () => {
      await apply('Project', name, {});
      await apply('SigningKey', name, { projectRef, rotationTrigger: '1' });
      await apply('Recipe', name, recipe);
      await untilReason('SigningKey', name, 'InSync');
      await untilReason('Recipe', name, 'InSync');
      await apply('SigningKey', other, { projectRef, rotationTrigger: '1' });
      await apply('Recipe', other, recipe);
      await untilReason('SigningKey', other, 'SigningKeyTaken');
      await untilReason('Recipe', other, 'NameConflict');
      await remove('SigningKey', name);
      await remove('Recipe', name);
      await untilReason('SigningKey', other, 'InSync');
      await untilReason('Recipe', other, 'InSync');
    });
  });

  it('is looked at immediately when it changes, or when its custom domain becomes free', async () => {
    const [first, second] = [newSlug(), newSlug()];
    const customDomains = [`${newSlug()}.example`];
    const ours = [`${second}.images.example`];
    const namespace = cluster.other();
    await led(async () => {
      await apply('Project', first, { staff: { customDomains } });
      await untilReason('Project', first, 'InSync');
      await apply('Project', second, { staff: { customDomains: ours } }, { namespace });
      await untilReason('Project', second, 'CustomDomainInvalid', namespace);
      await apply('Project', second, { staff: { customDomains } }, { namespace });
      await untilReason('Project', second, 'CustomDomainTaken', namespace);
      await apply('Project', first, { staff: { customDomains: [] } });
      await untilReason('Project', second, 'InSync', namespace);
    });
  });
});
