// An operator with fewer permissions than its Roles grant: the ImageService names the missing permission, and recovers
// when it is granted.
import { expect, it } from 'vitest';
import { type Permission, permissions } from '../../operator/permissions.ts';
import { useDatabase } from '../support/database.ts';
import {
  anInstallation,
  createSecrets,
  useInstallationCluster,
} from '../support/installation-cluster.ts';
import { permitOperator } from '../support/operator-process.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();
const cluster = useInstallationCluster(db, { keys: readSealingKeys(sealing), as: 'operator' });
const { read, merge, remove, led, untilReason, message, isPresent } = cluster;

const granted: readonly Permission[] = permissions.runtime;
const permit = (rights: readonly Permission[]) =>
  permitOperator(cluster.plane(), cluster.namespace(), rights);

/** All permissions except one that an administrator may consider unnecessary. */
function without(resource: string, verb: string): Permission[] {
  return granted
    .flatMap((each) =>
      each.resources.map((one) => {
        const verbs = each.verbs.filter((it) => one !== resource || it !== verb);
        return { ...each, resources: [one], verbs };
      }),
    )
    .filter(({ verbs }) => verbs.length > 0);
}

const dispatchers = async () => (await read('Deployment', 'main-dispatcher')).spec.replicas;

it('an ImageService, new or running, reports a right that is missing, and goes on once it is back', async () => {
  await createSecrets(cluster, { url: url(), sealing });
  await permit(without('httproutes', 'list'));
  await cluster.create('ImageService', anInstallation('main'));
  await led(async () => {
    // Routes are Ingresses, so HTTPRoutes need not be listed.
    await untilReason('main', 'Running');
    const gateway = { mode: 'Gateway', gatewayRef: { name: 'edge' } };
    await merge('ImageService', 'main', { spec: { routing: gateway } });
    await untilReason('main', 'ReadRefused');
    expect(await message('main')).toMatch(/may not read .*cannot list resource "httproutes"/);
    await permit(without('ingresses', 'list'));
    // The cluster has no Gateway API.
    await untilReason('main', 'GatewayAPIMissing');
    await merge('ImageService', 'main', { spec: { routing: null } });
    await untilReason('main', 'ReadRefused');
    expect(await message('main')).toMatch(/may not read .*cannot list resource "ingresses"/);
    await permit(granted);
    await untilReason('main', 'Running');

    await permit(without('secrets', 'get'));
    await merge('ImageService', 'main', { spec: { dispatcher: { replicas: 2 } } });
    await untilReason('main', 'ReadRefused', 'Applied');
    await untilReason('main', 'ReadRefused', 'Stalled');
    expect(await message('main')).toMatch(/cannot get resource "secrets"/);
    expect(await dispatchers()).toBe(1);
    await permit(granted);
    await untilReason('main', 'Running');
    expect(await dispatchers()).toBe(2);

    // Without `get`, the operator cannot know whether somebody else owns an object of that name.
    await permit(without('services', 'get'));
    await remove('Service', 'main-api');
    await untilReason('main', 'ObjectRefused');
    expect(await message('main')).toMatch(/^Service 'main-api' .*cannot get resource "services"/);
    expect(await isPresent('Service', 'main-api')).toBe(false);
    await permit(granted);
    await untilReason('main', 'Running');
    await until(async () => expect(await isPresent('Service', 'main-api')).toBe(true));
  });
}, 180_000);
