// What the controller of ImageServices keeps in memory, although a delivery namespace also holds the routes of all
// projects.
import { expect, it } from 'vitest';
import { routeLabels } from '../../operator/routes/edge.ts';
import { useDatabase } from '../support/database.ts';
import {
  anInstallation,
  createSecrets,
  useInstallationCluster,
} from '../support/installation-cluster.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();
const cluster = useInstallationCluster(db, { keys: readSealingKeys(sealing) });
const { create, led, list, metrics, untilReason } = cluster;

it('the cache of the ImageService controller holds its own Ingresses, but no routes of projects', async () => {
  await createSecrets(cluster, { url: url(), sealing });
  for (let project = 0; project < 20; project += 1) {
    const metadata = { name: `main-project-${project}`, labels: routeLabels(`prj_${project}`) };
    const spec = { rules: [{ host: `${project}.example` }] };
    await create('Ingress', { apiVersion: 'networking.k8s.io/v1', metadata, spec });
  }
  await create('ImageService', anInstallation('main'));
  await led(async () => {
    await untilReason('main', 'Running');
    const [, kept] = /^tintype_cache_objects\{kind="Ingress"\} (\d+)$/m.exec(
      await metrics().print(),
    ) ?? [undefined, ''];
    // Only the routes of the API and of delivery.
    expect(Number(kept)).toBeLessThanOrEqual(2);
  });
  expect(await list('Ingress')).toHaveLength(22);
}, 120_000);
