/** The built-in scaler as a process that crashes at each of its writes: the next process arrives at the same pods. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Recommendation } from '../../operator/scaler/decide-scale.ts';
import { scalePool } from '../../operator/scaler/scale-pool.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';
import { crashEverywhere } from '../support/crash-everywhere.ts';
import { createCrashingOperator } from '../support/crashing-operator.ts';
import { useDatabase } from '../support/database.ts';
import { type Json, useInstallationCluster } from '../support/installation-cluster.ts';
import { kubeOk } from '../support/kube-request.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useInstallationCluster(db);
const component = 'worker-ingest';
const COST = 'controller.kubernetes.io/pod-deletion-cost';

/** An installation, and the number of work items in progress on each of its pods. */
type Place = { name: string; inHand: ReadonlyMap<string, number> };

const labelsOf = (name: string) => ({
  'app.kubernetes.io/name': 'tintype',
  'app.kubernetes.io/managed-by': 'tintype-operator',
  'app.kubernetes.io/instance': name,
  'app.kubernetes.io/component': component,
});

async function podsOf(name: string): Promise<Json[]> {
  const pods = (await cluster.list('Pod')).filter(
    ({ metadata: { labels, deletionTimestamp } }) =>
      labels?.['app.kubernetes.io/instance'] === name && deletionTimestamp === undefined,
  );
  return pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/**
 * Creates running pods: the first `busy` have work in progress, and the last one had some before.
 */
async function beginWith(shape: { pods: number; busy: number }): Promise<Place> {
  const name = `c${randomBytes(4).toString('hex')}`;
  const labels = labelsOf(name);
  const containers = [{ name: 'tintype', image: 'tintype:1' }];
  await cluster.create('Deployment', {
    ...{ apiVersion: 'apps/v1', metadata: { name: `${name}-${component}`, labels } },
    spec: {
      ...{ replicas: shape.pods, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
  await until(async () => {
    const phases = (await podsOf(name)).map(({ status }) => status.phase);
    expect(phases).toEqual(Array.from({ length: shape.pods }, () => 'Running'));
  });
  const names = (await podsOf(name)).map(({ metadata }) => metadata.name);
  await kubeOk(cluster.plane(), {
    ...{ method: 'PATCH', path: cluster.path('Pod', names.at(-1)) },
    content_type: 'application/merge-patch+json',
    body: { metadata: { annotations: { [COST]: '1' } } },
  });
  return { name, inHand: new Map(names.map((pod, at) => [pod, at < shape.busy ? at + 1 : 0])) };
}

function operatorOf({ name, inHand }: Place, waiting: number) {
  const sizes = { min: 1, max: 5, queue_length: 2, queues: ['ours'], stable_seconds: 0 };
  const place = { name, namespace: cluster.namespace(), pool: { component, ...sizes } as const };
  const depths = [{ queue: 'ours', waiting, listeners: 1 }];
  return createCrashingOperator({
    plane: cluster.plane(),
    db,
    start: ({ client }) => {
      const scrape = async (pod: Json) => inHand.get(pod.metadata.name) ?? 0;
      let recommendations: readonly Recommendation[] = [];
      let now_ms = 0;
      const look = async () => {
        now_ms += 1;
        const seen = { depths, recommendations, now_ms };
        recommendations =
          (await scalePool(place, seen, { client, scrape, log }))?.recommendations ?? [];
      };
      // The first look takes the existing pods as the wish.
      return async () => {
        await look();
        await look();
      };
    },
  });
}

/** Waits for the declared number of pods. Returns each pod's initial index and deletion cost. */
async function outcomeOf({ name, inHand }: Place) {
  const { spec } = await cluster.read('Deployment', `${name}-${component}`);
  await until(async () => expect(await podsOf(name)).toHaveLength(spec.replicas));
  const first = [...inHand.keys()];
  const pods = (await podsOf(name)).map(({ metadata }) => [
    first.indexOf(metadata.name),
    metadata.annotations?.[COST],
  ]);
  return { replicas: spec.replicas, pods };
}

it('the scaler shrinks a pool to its busy pods, whichever write it crashed at', async () => {
  const { writes, outcome } = await crashEverywhere<Place>({
    begin: () => beginWith({ pods: 4, busy: 2 }),
    operatorOf: (place) => operatorOf(place, 0),
    outcome: outcomeOf,
  });
  expect(writes.toSorted()).toEqual(['merge Deployment', 'merge Pod', 'merge Pod', 'merge Pod']);
  const kept = [
    [0, '1'],
    [1, '2'],
  ];
  expect(outcome).toEqual({ replicas: 2, pods: kept });
}, 300_000);

it('the scaler grows a pool, whichever write it crashed at', async () => {
  const { writes, outcome } = await crashEverywhere<Place>({
    begin: () => beginWith({ pods: 2, busy: 1 }),
    operatorOf: (place) => operatorOf(place, 10),
    outcome: async (place) => (await outcomeOf(place)).replicas,
  });
  expect(writes.toSorted()).toEqual(['merge Deployment', 'merge Pod', 'merge Pod']);
  expect(outcome).toBe(5);
}, 300_000);
