/**
 * ImageServices for one test file: a namespace in the run's control plane, the controller of that namespace, which runs
 * while a test calls `led`, and queries for objects.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { createInstallationController } from '../../operator/installation/installation-controller.ts';
import { probeDatabase } from '../../operator/installation/probe-database.ts';
import type { ProbeDependencies } from '../../operator/installation/probe-dependencies.ts';
import type { PassContext } from '../../operator/installation/reconcile-installation.ts';
import { createEventRecorder } from '../../operator/kube/events.ts';
import type { KubeMetrics } from '../../operator/kube/metrics.ts';
import { systemTimedClock as clock } from '../../operator/kube/timed-clock.ts';
import type { Database } from '../../runtime/db/client.ts';
import { least } from '../operator/image-service/samples.ts';
import { connectKube } from '../operator/kube/connect.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';
import {
  type Identity,
  type KubeCall,
  kubeOk,
  kubeRequest,
  type PlaneAddress,
} from './kube-request.ts';
import { type Outcome, type PlayedPod, type PodPlayer, playPods } from './pod-player.ts';
import { newSealingKey } from './sealing-keys.ts';
import { useControlPlane } from './shared-control-plane.ts';
import { until } from './until.ts';

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects of many kinds; the tests check their shapes.
export type Json = any;

const places: Record<string, string> = {
  ConfigMap: 'api/v1/NS/configmaps',
  Secret: 'api/v1/NS/secrets',
  ServiceAccount: 'api/v1/NS/serviceaccounts',
  Service: 'api/v1/NS/services',
  Pod: 'api/v1/NS/pods',
  Deployment: 'apis/apps/v1/NS/deployments',
  Job: 'apis/batch/v1/NS/jobs',
  CronJob: 'apis/batch/v1/NS/cronjobs',
  PodDisruptionBudget: 'apis/policy/v1/NS/poddisruptionbudgets',
  NetworkPolicy: 'apis/networking.k8s.io/v1/NS/networkpolicies',
  ScaledObject: 'apis/keda.sh/v1alpha1/NS/scaledobjects',
  HTTPRoute: 'apis/gateway.networking.k8s.io/v1/NS/httproutes',
  Ingress: 'apis/networking.k8s.io/v1/NS/ingresses',
  ImageService: 'apis/tintype.dev/v1alpha1/NS/imageservices',
  Event: 'apis/events.k8s.io/v1/NS/events',
};

/** Reports that the broker and the buckets are usable. */
export const well: ProbeDependencies = async () => {
  const verdict = { reason: 'Usable', message: 'It answers.' } as const;
  return { broker: verdict, storage: verdict };
};

export type InstallationCluster = ReturnType<typeof useInstallationCluster>;

/**
 * Creates the Secrets to which `anInstallation` refers: the test's database, and a broker and
 * buckets that do not exist, which `well` reports as usable.
 */
export async function createSecrets(
  { create }: Pick<InstallationCluster, 'create'>,
  { url, sealing }: { url: string; sealing: string },
): Promise<void> {
  const secret = () => randomBytes(32).toString('hex');
  const secrets = {
    db: { url },
    mq: { url: 'amqp://user:password@mq.example' },
    s3: {
      TINTYPE_S3_ENDPOINT: 'http://s3.example:9000',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
    },
    keys: {
      TINTYPE_KEY_ENCRYPTION_KEYS: sealing,
      TINTYPE_TOKEN_KEYS: newSealingKey('t1'),
      TINTYPE_REQUEST_SIGNING_SECRET: secret(),
      TINTYPE_STORAGE_EVENT_SECRET: secret(),
    },
  };
  for (const [name, stringData] of Object.entries(secrets)) {
    await create('Secret', { apiVersion: 'v1', metadata: { name }, stringData });
  }
}

export function anInstallation(name: string, spec: object = {}): object {
  return {
    apiVersion: 'tintype.dev/v1alpha1',
    metadata: { name },
    spec: {
      ...least,
      image: 'registry.example/tintype:1',
      baseURL: 'https://api.example',
      deliveryRootDomain: 'img.example',
      ...spec,
    },
  };
}

export function useInstallationCluster(
  db: Database,
  {
    as = 'admin',
    beside = () => [],
    ...context
  }: Partial<PassContext> & { as?: Identity; beside?: () => readonly string[] } = {},
  cluster = useControlPlane(),
) {
  let namespace = '';
  let metrics: KubeMetrics;
  let player: PodPlayer;
  let outcomeOf: (pod: PlayedPod) => Outcome;
  let controller: ReturnType<typeof createInstallationController>;
  const plane = (): PlaneAddress => cluster.plane();
  const path = (kind: string, name = '') =>
    `/${(places[kind] ?? '').replace('NS', `namespaces/${namespace}`)}${name && `/${name}`}`;
  const call = (more: KubeCall): Promise<Json> => kubeOk(plane(), more);
  const read = (kind: string, name: string) => call({ path: path(kind, name) });

  beforeAll(async () => {
    namespace = await cluster.namespace();
    const connected = connectKube(plane(), { as });
    metrics = connected.metrics;
    const { client } = connected;
    controller = createInstallationController({
      ...{ log, namespaces: [namespace, ...beside()], resync_ms: 400 },
      context: {
        ...{ client, clock, metrics, probeDatabase, schema_version: '0001' },
        ...{ keys: [], probeDependencies: well },
        events: createEventRecorder({ client, clock, log, instance: 'test' }),
        ...context,
      },
    });
    outcomeOf = usual;
    player = playPods(plane(), namespace, (pod) => outcomeOf(pod));
  }, 300_000);
  afterAll(() => player.stop());

  return {
    plane,
    path,
    read,
    namespace: () => namespace,
    metrics: () => metrics,
    /** Sets what happens to pods from now on. */
    play: (outcome: typeof outcomeOf) => {
      outcomeOf = outcome;
    },
    list: async (kind: string): Promise<Json[]> => (await call({ path: path(kind) })).items,
    create: (kind: string, object: object) =>
      call({ method: 'POST', path: path(kind), body: { kind, ...object } }),
    merge: (kind: string, name: string, body: object) =>
      call({
        ...{ method: 'PATCH', path: path(kind, name), body },
        content_type: 'application/merge-patch+json',
      }),
    /** Writes the status of an object, like its controller. */
    say: (kind: string, name: string, status: object) =>
      call({
        ...{ method: 'PATCH', path: `${path(kind, name)}/status`, body: { status } },
        content_type: 'application/merge-patch+json',
      }),
    remove: (kind: string, name: string) => call({ method: 'DELETE', path: path(kind, name) }),
    isPresent: async (kind: string, name: string) =>
      (await kubeRequest(plane(), { path: path(kind, name) })).status === 200,
    /** Runs `work` while the operator leads. */
    led: async (work: () => Promise<unknown>) => {
      const over = new AbortController();
      const { signal } = over;
      const leading = controller.lead({
        db,
        epoch: 1,
        lease_uid: 'lease',
        signal,
        isCurrent: () => true,
        raised: async () => undefined,
      });
      try {
        await work();
      } finally {
        over.abort();
        await leading;
      }
    },
    untilReason: (name: string, reason: string, type = 'Ready') =>
      until(async () => {
        const { metadata, status } = await read('ImageService', name);
        const found = status.conditions?.find((each: Json) => each.type === type);
        expect({ reason: found?.reason, of: found?.observedGeneration }).toEqual({
          ...{ reason, of: metadata.generation },
        });
      }),
    message: async (name: string, type = 'Ready'): Promise<string> => {
      const { status } = await read('ImageService', name);
      return status.conditions.find((each: Json) => each.type === type)?.message;
    },
    countWrites: () =>
      count(
        metrics,
        /^rest_client_requests_total\{.*method="(?:PATCH|POST|PUT|DELETE)".*\} (\d+)$/gm,
      ),
    /** Counts passes with this result; without an argument, all passes. */
    countPasses: (result = '') =>
      count(
        metrics,
        new RegExp(
          `^controller_runtime_reconcile_total\\{controller="ImageService".*${result}.*\\} (\\d+)$`,
          'gm',
        ),
      ),
  };
}

type Counting = Pick<ReturnType<typeof useInstallationCluster>, 'countWrites' | 'countPasses'>;

/**
 * Expects several passes without a write. A write in every pass would fight endlessly with the API
 * server or another writer over the same field.
 */
export async function expectNoWrites({ countWrites, countPasses }: Counting): Promise<void> {
  const passesAfter = async (passes: number, more: number) =>
    until(async () => expect(await countPasses()).toBeGreaterThan(passes + more));
  await passesAfter(await countPasses(), 2);
  const [writes, passes] = [await countWrites(), await countPasses()];
  await passesAfter(passes, 3);
  expect(await countWrites()).toBe(writes);
}

/** Pods of Jobs succeed, and all others become ready immediately. */
export function usual({ spec }: PlayedPod): Outcome {
  return spec.restartPolicy === 'Always' ? 'ready' : 'succeed';
}

async function count(metrics: KubeMetrics, counted: RegExp): Promise<number> {
  const lines = (await metrics.print()).matchAll(counted);
  return [...lines].reduce((total, [, number]) => total + Number(number), 0);
}
