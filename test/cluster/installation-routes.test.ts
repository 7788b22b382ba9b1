import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import {
  anInstallation,
  createSecrets,
  expectNoWrites,
  type Json,
  useInstallationCluster,
} from '../support/installation-cluster.ts';
import { installHttpRoutes, judgedBy } from '../support/optional-definitions.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';
import { useOwnControlPlane } from '../support/shared-control-plane.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();
// A separate control plane, so that other tests do not find a Gateway API.
const plane = useOwnControlPlane();
const cluster = useInstallationCluster(db, { keys: readSealingKeys(sealing) }, plane);
const { create, isPresent, led, merge, message, read, say, untilReason } = cluster;

const routing = { mode: 'Gateway', gatewayRef: { name: 'edge', namespace: 'infra' } };
const names = ['main-api', 'main-delivery'];

beforeAll(async () => {
  await createSecrets(cluster, { url: url(), sealing });
  await create('ImageService', anInstallation('main', { routing }));
});

/** Reports on a route, as the controller of a Gateway does. */
async function judge(name: string, more: object, parentRef: object = routing.gatewayRef) {
  const { metadata } = await read('HTTPRoute', name);
  const { generation: observedGeneration } = metadata;
  await say('HTTPRoute', name, judgedBy(parentRef, { observedGeneration, ...more }));
}

const accepted = { status: 'True', reason: 'Accepted', message: '' };
const refused = { status: 'False', reason: 'NotAllowedByListeners', message: 'not this namespace' };

async function states(): Promise<string> {
  const { conditions } = (await read('ImageService', 'main')).status;
  const statusOf = (type: string) => conditions.find((each: Json) => each.type === type)?.status;
  return ['Routed', 'Ready', 'Reconciling', 'Stalled']
    .map((type) => `${type} ${statusOf(type)}`)
    .join(', ');
}

const MOVING = 'Routed False, Ready False, Reconciling True, Stalled False';
const STALLED = 'Routed False, Ready False, Reconciling False, Stalled True';
const READY = 'Routed True, Ready True, Reconciling False, Stalled False';

describe('an installation', { shuffle: false }, () => {
  // The tests share one installation, whose Gateway becomes available step by step.
  it('is ready once its Gateway accepts all of its hosts, and says before what it waits for', async () => {
    await led(async () => {
      await untilReason('main', 'GatewayAPIMissing', 'Routed');
      await untilReason('main', 'GatewayAPIMissing');
      expect(await states()).toBe(STALLED);

      await installHttpRoutes(cluster.plane());
      await untilReason('main', 'NotAdmitted');
      expect(await states()).toBe(MOVING);
      expect(await message('main')).toContain("is there a Gateway 'infra/edge'");

      for (const name of names) await judge(name, refused);
      await untilReason('main', 'RouteRefused');
      expect(await states()).toBe(STALLED);
      await until(async () =>
        expect(await message('main', 'Routed')).toContain(
          'HTTPRoute main-api (api.example) is refused by its Gateway, NotAllowedByListeners: not this namespace. HTTPRoute main-delivery',
        ),
      );

      for (const name of names) await judge(name, accepted, { name: 'edge' });
      await untilReason('main', 'NotAdmitted');

      await judge('main-api', accepted);
      await until(async () => expect(await message('main')).not.toContain('main-api'));
      expect(await states()).toBe(MOVING);
      await judge('main-delivery', accepted);
      await untilReason('main', 'Running');
      expect(await states()).toBe(READY);
      expect(await message('main', 'Routed')).toBe(
        'Every host is routed: api.example, *.img.example.',
      );
    });
  });

  it('is not written again by further passes', async () => {
    await led(() => expectNoWrites(cluster));
  });

  it('says which routes stay while it switches between Gateway and Ingress, either way', async () => {
    const stays = async (kind: string) => Promise.all(names.map((name) => isPresent(kind, name)));
    await led(async () => {
      await merge('ImageService', 'main', {
        spec: { routing: { mode: 'Ingress', gatewayRef: null } },
      });
      await untilReason('main', 'NoAddress', 'Routed');
      await untilReason('main', 'Running');
      expect(await message('main', 'Routed')).toContain(
        'HTTPRoute main-api stays until it has one',
      );
      expect(await stays('HTTPRoute')).toEqual([true, true]);
      for (const name of names) {
        await say('Ingress', name, { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } });
      }
      await untilReason('main', 'Routed', 'Routed');
      await until(async () => expect(await stays('HTTPRoute')).toEqual([false, false]));

      await merge('ImageService', 'main', { spec: { routing } });
      await untilReason('main', 'NotAdmitted');
      expect(await message('main')).toContain('Ingress main-api stays until it is accepted.');
      for (const name of names) await judge(name, accepted);
      await untilReason('main', 'Running');
      await until(async () => expect(await stays('Ingress')).toEqual([false, false]));

      await merge('ImageService', 'main', {
        spec: { routing: { mode: 'Disabled', gatewayRef: null } },
      });
      await untilReason('main', 'RoutedByOthers', 'Routed');
      await untilReason('main', 'Running');
    });
  });
});
