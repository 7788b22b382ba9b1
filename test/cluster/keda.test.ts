// A cluster with KEDA: what the operator writes to KEDA's objects, and how it reports their status.
import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import {
  anInstallation,
  createSecrets,
  expectNoWrites,
  useInstallationCluster,
} from '../support/installation-cluster.ts';
import {
  installScaledObjects,
  installTriggerAuthentications,
} from '../support/optional-definitions.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';
import { useOwnControlPlane } from '../support/shared-control-plane.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();
// A separate control plane, so that other tests do not find KEDA.
const plane = useOwnControlPlane();
const cluster = useInstallationCluster(db, { keys: readSealingKeys(sealing) }, plane);
const { create, led, message, read, say, untilReason } = cluster;

beforeAll(async () => {
  await installScaledObjects(cluster.plane());
  await installTriggerAuthentications(cluster.plane());
  await createSecrets(cluster, { url: url(), sealing });
  await create('ImageService', anInstallation('main'));
}, 60_000);

/** Reports the state of a pool, as KEDA does. */
function judge(pool: string, status: string, said: string) {
  const condition = { type: 'Ready', status, reason: 'ScaledObjectReady', message: said };
  return say('ScaledObject', `main-${pool}`, { conditions: [condition] });
}

describe('a pool that KEDA scales', { shuffle: false }, () => {
  it('has a ScaledObject that further passes do not write again', async () => {
    await led(async () => {
      await untilReason('main', 'Running');
      const { spec } = await read('ScaledObject', 'main-worker-render');
      expect(spec.triggers).toHaveLength(2);
      expect(spec.scaleTargetRef.name).toBe('main-worker-render');
      await expectNoWrites(cluster);
    });
  });

  it('is reported when KEDA cannot scale it, and when it can again', async () => {
    await led(async () => {
      await judge('worker-render', 'False', 'Triggers defined in ScaledObject are not working');
      await untilReason('main', 'ScalingFailed', 'WorkersAvailable');
      await untilReason('main', 'ScalingFailed');
      expect(await message('main', 'WorkersAvailable')).toMatch(
        /^KEDA does not set the number of pods of main-worker-render.*Triggers defined/,
      );
      await judge('worker-render', 'True', 'ScaledObject is defined correctly');
      await untilReason('main', 'Running');
      expect(await message('main', 'WorkersAvailable')).toMatch(
        /^main-worker-ingest: .* main-worker-render: /,
      );
    });
  });
});
