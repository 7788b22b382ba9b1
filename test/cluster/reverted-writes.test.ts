// Two controllers revert each other's changes to an object: ours writes less and less often, and names the other one.
import { expect, it } from 'vitest';
import { countReverts } from '../support/count-reverts.ts';
import { useDatabase } from '../support/database.ts';
import {
  anInstallation,
  createSecrets,
  useInstallationCluster,
} from '../support/installation-cluster.ts';
import { kubeRequest } from '../support/kube-request.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();
const cluster = useInstallationCluster(db, { keys: readSealingKeys(sealing) });
const { create, read, led, untilReason, message, list, path, plane } = cluster;

/** Sets the replicas of the API back whenever they differ. */
const keeper = {
  isAsWritten: async () => (await read('Deployment', 'main-api')).spec.replicas !== 7,
  undo: () =>
    kubeRequest(plane(), {
      ...{ method: 'PATCH', body: { spec: { replicas: 7 } } },
      path: `${path('Deployment', 'main-api')}?fieldManager=replica-keeper`,
      content_type: 'application/merge-patch+json',
    }),
};

it('an object that somebody changes back is written less and less often, and the writer is named', async () => {
  await createSecrets(cluster, { url: url(), sealing });
  await create('ImageService', anInstallation('main'));
  await led(async () => {
    await untilReason('main', 'Running');
    const undone = await countReverts(keeper, async () => {
      await untilReason('main', 'ObjectUndone');
      expect(await message('main')).toBe(
        "Deployment 'main-api' does not stay as written: 'replica-keeper' changes `spec.replicas` each time. It is written again less and less often, finally every five minutes: stop whoever changes it, or declare the wanted state in the ImageService.",
      );
      await new Promise((resolve) => setTimeout(resolve, 8_000));
    });
    // The first write is immediate; the others follow after 1, 2, 4 and 8 seconds.
    expect(undone).toBeGreaterThanOrEqual(4);
    expect(undone).toBeLessThanOrEqual(6);
    await until(async () => expect((await read('Deployment', 'main-api')).spec.replicas).toBe(2));
    await untilReason('main', 'Running');
    const events = await list('Event');
    expect(events.filter(({ reason }) => reason === 'ObjectUndone')).toMatchObject([
      { type: 'Warning', note: expect.stringContaining("'replica-keeper'") },
    ]);
    expect(events.filter(({ reason }) => reason === 'DriftHealed')[0]?.note).toContain(
      "update Deployment main-api (spec.replicas was changed by 'replica-keeper')",
    );
  });
}, 180_000);
