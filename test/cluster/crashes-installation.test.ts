import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { imageServices, ownedTypes } from '../../operator/installation/live-types.ts';
import { probeDatabase } from '../../operator/installation/probe-database.ts';
import { reconcileInstallation } from '../../operator/installation/reconcile-installation.ts';
import { createWriteHistory } from '../../operator/installation/write-history.ts';
import { systemTimedClock } from '../../operator/kube/timed-clock.ts';
import { least } from '../operator/image-service/samples.ts';
import { type ControlPlane, createNamespace, startControlPlane } from '../support/control-plane.ts';
import { atOnce, crashEverywhere } from '../support/crash-everywhere.ts';
import {
  type CrashingOperator,
  createCrashingOperator,
  type Through,
} from '../support/crashing-operator.ts';
import { useDatabase } from '../support/database.ts';
import { well } from '../support/installation-cluster.ts';
import { kubeOk } from '../support/kube-request.ts';
import { lastingIn } from '../support/lasting.ts';
import { playControllers } from '../support/play-controllers.ts';
import { sampleOf } from '../support/sample.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';

const { db, url } = useDatabase();

// A separate control plane: nothing creates pods in it, and its garbage collector removes the
// dependents of deleted objects.
let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane({ controllers: 'garbage-collector-controller' });
}, 300_000);

afterAll(() => plane?.stop());

/**
 * `schema`: the newest migration that the operator knows. `pods`: the state of the pods with the
 * bad image.
 */
type Place = { namespace: string; schema: string; pods: 'waiting' | 'late' };

const BAD = 'registry.example.com/tintype:bad';
const secrets = {
  db: () => ({ url: url() }),
  mq: () => ({ url: 'amqp://user:password@mq.example' }),
  s3: () => ({
    TINTYPE_S3_ENDPOINT: 'http://s3.example:9000',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  }),
  keys: () => keys,
};
const keys = {
  TINTYPE_KEY_ENCRYPTION_KEYS: newSealingKey(),
  TINTYPE_TOKEN_KEYS: newSealingKey('t1'),
  TINTYPE_REQUEST_SIGNING_SECRET: randomBytes(32).toString('hex'),
  TINTYPE_STORAGE_EVENT_SECRET: randomBytes(32).toString('hex'),
};

const services = ({ namespace }: Place) =>
  `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/imageservices`;

async function declare(): Promise<Place> {
  const place = {
    namespace: await createNamespace(plane),
    schema: '0001',
    pods: 'waiting' as const,
  };
  for (const [name, data] of Object.entries(secrets)) {
    const path = `/api/v1/namespaces/${place.namespace}/secrets`;
    const body = { metadata: { name }, stringData: data() };
    await kubeOk(plane, { method: 'POST', path, body });
  }
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService' };
  const body = { ...head, metadata: { name: 'main' }, spec: least };
  await kubeOk(plane, { method: 'POST', path: services(place), body });
  return place;
}

function change(place: Place, spec: object) {
  const content_type = 'application/merge-patch+json';
  const path = `${services(place)}/main`;
  return kubeOk(plane, { method: 'PATCH', path, body: { spec }, content_type });
}

const TIME_ENOUGH_MS = 600_000;

function operatorOf({ namespace, schema, pods }: Place): CrashingOperator {
  const ahead_ms = pods === 'late' ? TIME_ENOUGH_MS : 0;
  const clock = { ...systemTimedClock, now: () => new Date(Date.now() + ahead_ms) };
  const start = ({ client, db: counted, metrics }: Through) => {
    const context = {
      ...{ client, db: counted, metrics, clock, probeDatabase, schema_version: schema },
      keys: readSealingKeys(keys.TINTYPE_KEY_ENCRYPTION_KEYS),
      history: createWriteHistory(clock),
      ...{ namespaces: [namespace], probeDependencies: well, events: { record: () => undefined } },
    };
    return async () => void (await reconcileInstallation({ namespace, name: 'main' }, context));
  };
  const others = () => playControllers(plane, { namespace, bad: { image: BAD, state: pods } });
  return createCrashingOperator({ plane, db, start, others });
}

const types = [imageServices, ...ownedTypes];
const outcome = ({ namespace }: Place) => lastingIn(plane, namespace, types);

async function installed(): Promise<Place> {
  const place = await declare();
  await operatorOf(place).run();
  return place;
}

/** Another migration and another image, and routes that are no longer declared. */
async function toBeUpgraded(): Promise<Place> {
  const place = await installed();
  await change(place, {
    image: 'registry.example.com/tintype:2',
    routing: { mode: 'Disabled' },
  });
  return { ...place, schema: '0002' };
}

/** New pods wait for longer than their deadline. */
async function toBeRolledBack(): Promise<Place> {
  const place = await installed();
  await change(place, { image: BAD });
  await operatorOf(place).run();
  return { ...place, pods: 'late' };
}

describe.each([
  ['installed', declare, 'Running'],
  ['upgraded', toBeUpgraded, 'Running'],
  ['rolled back', toBeRolledBack, 'RolledBack'],
] as const)(
  'an operator that crashes at any write of an installation that is %s',
  (_, begin, reason) => {
    it('ends with the same objects, none twice and none left over', async () => {
      const { writes, outcome: found } = await crashEverywhere({ begin, operatorOf, outcome });
      expect(writes.length).toBeGreaterThan(4);
      const ready = { type: 'Ready', reason };
      expect(found).toMatchObject({
        deployments: [{}, {}, {}, {}, {}],
        imageservices: [
          { status: { conditions: expect.arrayContaining([expect.objectContaining(ready)]) } },
        ],
      });
    }, 600_000);
  },
);

it('deleting an installation removes whatever was made of it, and nothing more is written', async () => {
  const writes = await operatorOf(await declare()).run();
  const places: Place[] = [];
  const taken = sampleOf([...writes.keys()], 9);
  await atOnce(taken, async (write) => {
    const place = await declare();
    await operatorOf(place).run({ write, side: 'after' });
    await kubeOk(plane, { method: 'DELETE', path: `${services(place)}/main` });
    expect(await operatorOf(place).run()).toEqual([]);
    places.push(place);
  });
  expect(writes.length).toBeGreaterThan(10);
  expect(places).toHaveLength(taken.length);
  for (const place of places) {
    await expect
      .poll(async () => Object.values(await outcome(place)).flat(), { timeout: 60_000 })
      .toEqual([]);
  }
}, 300_000);
