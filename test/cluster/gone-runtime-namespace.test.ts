// A namespace in `runtimeNamespaces` is deleted, and the operator's permissions with it: a running installation in
// another namespace goes on, and a new one reports what to do.
import { beforeAll, expect, it } from 'vitest';
import { type Permission, permissions } from '../../operator/permissions.ts';
import { useDatabase } from '../support/database.ts';
import {
  anInstallation,
  createSecrets,
  useInstallationCluster,
} from '../support/installation-cluster.ts';
import { permitOperator } from '../support/operator-process.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();
const keys = readSealingKeys(sealing);
const planes = useControlPlane();
let gone = '';
beforeAll(async () => {
  gone = await planes.namespace();
}, 300_000);
const beside = () => [gone];
const cluster = useInstallationCluster(db, { keys, as: 'operator', beside }, planes);
const { create, led, merge, message, namespace, plane, read, remove, untilReason } = cluster;

const permit = (where: string, rights: readonly Permission[]) =>
  permitOperator(plane(), where, rights);

it('without rights in one runtime namespace, a running ImageService goes on and a new one waits', async () => {
  await createSecrets(cluster, { url: url(), sealing });
  await permit(namespace(), permissions.runtime);
  await permit(gone, permissions.runtime);
  await create('ImageService', anInstallation('main'));
  await led(async () => {
    await untilReason('main', 'Running');
    await permit(gone, []);
    await merge('ImageService', 'main', { spec: { dispatcher: { replicas: 2 } } });
    await untilReason('main', 'Running');
    expect((await read('Deployment', 'main-dispatcher')).spec.replicas).toBe(2);

    await remove('ImageService', 'main');
    await create('ImageService', anInstallation('next'));
    await untilReason('next', 'ReadRefused');
    expect(await message('next')).toContain(`remove '${gone}' from TINTYPE_RUNTIME_NAMESPACES`);
    await permit(gone, permissions.runtime);
    await untilReason('next', 'Running');
  });
}, 180_000);
