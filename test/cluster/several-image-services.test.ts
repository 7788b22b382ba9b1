import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createUnservedReporter } from '../../operator/installation/unserved-reporter.ts';
import { systemTimedClock as clock } from '../../operator/kube/timed-clock.ts';
import { connectKube } from '../operator/kube/connect.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';
import { useDatabase } from '../support/database.ts';
import {
  anInstallation,
  createSecrets,
  type Json,
  useInstallationCluster,
} from '../support/installation-cluster.ts';
import { kubeOk } from '../support/kube-request.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();
const cluster = useInstallationCluster(db, { keys: readSealingKeys(sealing) });
const { create, list, led, merge, message, read, remove, untilReason } = cluster;

async function secret(name: string, stringData: object): Promise<void> {
  await create('Secret', { apiVersion: 'v1', metadata: { name }, stringData });
}

async function declare(name: string, database = 'db'): Promise<void> {
  const hosts = { baseURL: `https://${name}.example`, deliveryRootDomain: `${name}.img.example` };
  const databaseSecretRef = { name: database };
  await create('ImageService', anInstallation(name, { ...hosts, databaseSecretRef }));
}

afterEach(async () => {
  for (const { metadata } of await list('ImageService'))
    await remove('ImageService', metadata.name);
});

/**
 * Kubernetes stores creation times in whole seconds, so declare services at least a second apart.
 */
async function declareInTurn(...services: [name: string, database?: string][]): Promise<void> {
  let next = 0;
  for (const [name, database] of services) {
    await until(async () => expect(Date.now()).toBeGreaterThan(next));
    await declare(name, database);
    const { metadata } = await read('ImageService', name);
    next = Date.parse(metadata.creationTimestamp) + 1000;
  }
}

describe('several ImageServices on one database', () => {
  beforeAll(async () => {
    await createSecrets(cluster, { url: url(), sealing });
  });

  const partsOf = async (name: string) =>
    [...(await list('Deployment')), ...(await list('Job'))].filter((each: Json) =>
      each.metadata.name.startsWith(name),
    );

  it('run one at a time: the oldest, which the others name, and the next one when it is deleted', async () => {
    await declareInTurn(['first'], ['second'], ['third']);
    await led(async () => {
      await untilReason('first', 'Running');
      for (const name of ['second', 'third']) {
        await untilReason(name, 'DatabaseTaken');
        expect(await message(name)).toMatch(/'db'.*another ImageService.*\/first'/);
        expect(await partsOf(name)).toEqual([]);
      }
      await remove('ImageService', 'first');
      // Make the operator look at the youngest one first.
      await merge('ImageService', 'third', { spec: { dispatcher: { replicas: 1 } } });
      await until(async () => expect(await message('third')).toMatch(/\/second'/));
      await untilReason('second', 'Running');
      expect(await partsOf('third')).toEqual([]);
    });
  }, 300_000);

  it('keep the one that already runs, even if an older one is pointed to its database later', async () => {
    await secret('other', { url: Object.assign(new URL(url()), { pathname: '/postgres' }).href });
    await declareInTurn(['older', 'other'], ['younger']);
    await led(async () => {
      await untilReason('older', 'DatabaseMismatch');
      await untilReason('younger', 'Running');
      const before = await partsOf('younger');
      await merge('ImageService', 'older', { spec: { databaseSecretRef: { name: 'db' } } });
      await untilReason('older', 'DatabaseTaken');
      expect(await message('older')).toMatch(/another ImageService.*\/younger'/);
      await merge('ImageService', 'younger', { spec: { dispatcher: { replicas: 2 } } });
      await until(async () =>
        expect((await read('Deployment', 'younger-dispatcher')).spec.replicas).toBe(2),
      );
      await untilReason('younger', 'Running');
      expect((await partsOf('younger')).length).toBe(before.length);
      expect(await partsOf('older')).toEqual([]);
    });
  }, 300_000);
});

describe('an ImageService in a namespace that no operator serves', () => {
  async function reported(work: () => Promise<void>): Promise<void> {
    const { client, metrics } = connectKube(cluster.plane());
    const over = new AbortController();
    const term = { epoch: 1, lease_uid: 'lease', signal: over.signal, isCurrent: () => true };
    const where = { served: ['images'], watched: ['images', cluster.namespace()] };
    const options = { client, clock, log, metrics, ...where, patience_ms: 0 };
    const unserved = createUnservedReporter(options);
    const reporting = unserved.lead(term);
    expect(unserved.health()).toMatchObject([{ isSynced: false }]);
    await work().finally(() => over.abort());
    await reporting;
    expect(unserved.health()).toEqual([]);
    client.close();
  }

  it('says so, and where to create it instead', async () => {
    await declare('lost');
    await reported(() => untilReason('lost', 'NamespaceNotServed'));
    expect(await message('lost')).toMatch(/create it in 'images'.*TINTYPE_RUNTIME_NAMESPACES/);
    const { status } = await read('ImageService', 'lost');
    const stalled = status.conditions.find(({ type }: Json) => type === 'Stalled');
    expect(stalled).toMatchObject({ status: 'True', reason: 'NamespaceNotServed' });
  });

  it('keeps what another operator has said of it', async () => {
    await declare('served');
    await declare('lost');
    const ready = { type: 'Ready', status: 'False', reason: 'SecretNotFound', message: 'no db' };
    const said = { ...ready, lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 };
    await kubeOk(cluster.plane(), {
      ...{ method: 'PATCH', path: `${cluster.path('ImageService', 'served')}/status` },
      body: { status: { conditions: [said] } },
      content_type: 'application/merge-patch+json',
    });
    await reported(() => untilReason('lost', 'NamespaceNotServed'));
    expect((await read('ImageService', 'served')).status.conditions).toEqual([said]);
  });
});
