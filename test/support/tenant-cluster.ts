/**
 * Tenant resources for one test file: namespaces in the run's control plane, the controllers of these namespaces, which
 * run while a test calls `led`, and queries for resources.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { type ObjectCaches, openObjectCaches } from '../../operator/cluster/object-caches.ts';
import { createOrganizations } from '../../operator/cluster/organizations.ts';
import {
  createTenantControllers,
  type TenantOptions,
} from '../../operator/cluster/tenant-controllers.ts';
import { openFence } from '../../operator/fence.ts';
import type { KubeClient } from '../../operator/kube/client.ts';
import { createEventRecorder } from '../../operator/kube/events.ts';
import type { Term } from '../../operator/kube/lease.ts';
import type { KubeMetrics } from '../../operator/kube/metrics.ts';
import { systemTimedClock as clock } from '../../operator/kube/timed-clock.ts';
import { defaultPlans } from '../../runtime/core/plans.ts';
import type { Database } from '../../runtime/db/client.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { connectKube } from '../operator/kube/connect.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';
import { kubeApply, kubeOk, kubeRequest, type PlaneAddress } from './kube-request.ts';
import { useControlPlane } from './shared-control-plane.ts';
import { until } from './until.ts';

export type Condition = {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration: number;
};

export type Live = {
  metadata: {
    resourceVersion: string;
    generation: number;
    finalizers?: string[];
    uid: string;
    deletionTimestamp?: string;
  };
  status: { observedGeneration: number; conditions?: Condition[]; [field: string]: unknown };
};

/** An Event of events.k8s.io/v1, as the API server stores it. */
export type KubeEvent = {
  type: string;
  reason: string;
  note: string;
  series?: { count: number };
  regarding: { kind: string; name: string; uid: string };
};

type Declared = { namespace?: string; annotations?: Record<string, string> };

/** `through` replaces the leader's database connection. */
type Leader = Partial<Pick<Term, 'epoch' | 'lease_uid'>> & { through?: Database };

export type TenantCluster = {
  plane(): PlaneAddress;
  /** The first namespace of the test file. */
  namespace(): string;
  /** A second namespace in which the controllers work. */
  other(): string;
  metrics(): KubeMetrics;
  /** Runs `work` while the operator leads. */
  led(work: () => Promise<unknown>, leader?: Leader): Promise<void>;
  apply(kind: string, name: string, spec: object, declared?: Declared): Promise<unknown>;
  read(kind: string, name: string, namespace?: string): Promise<Live>;
  remove(kind: string, name: string, namespace?: string): Promise<unknown>;
  condition(
    kind: string,
    name: string,
    type?: string,
    namespace?: string,
  ): Promise<Condition | undefined>;
  /** Waits until Ready has this reason for the current generation. */
  untilReason(kind: string, name: string, reason: string, namespace?: string): Promise<void>;
  untilGone(kind: string, name: string, namespace?: string): Promise<void>;
  /** All Events in the first namespace. */
  events(): Promise<KubeEvent[]>;
  path(kind: string, name: string, namespace?: string): string;
  countWrites(): Promise<number>;
  countPasses(kind?: string): Promise<number>;
};

type Options = {
  db: Database;
  key?: Buffer;
  /** Wraps the operator's Kubernetes client. */
  wrap?: (client: KubeClient) => KubeClient;
  context?: Partial<TenantOptions['context']>;
  /** Replaces the API server's address for the operator, for example by a proxy. */
  through?: (plane: PlaneAddress) => Promise<PlaneAddress>;
  often?: Pick<TenantOptions, 'resync_ms' | 'source_ms' | 'retry_ms' | 'poll_ms'>;
};

const plurals: Record<string, string> = {
  Project: 'projects',
  SigningKey: 'signingkeys',
  WatermarkPreset: 'watermarkpresets',
  Recipe: 'recipes',
};

const GROUP = '/apis/tintype.dev/v1alpha1';
const OFTEN = { resync_ms: 1_000, retry_ms: 300 };

export function useTenantCluster({ db, key, wrap, context, ...options }: Options): TenantCluster {
  const cluster = useControlPlane();
  const { plane } = cluster;
  const namespaces: string[] = [];
  let caches: ObjectCaches;
  let metrics: KubeMetrics;
  let controllers: ReturnType<typeof createTenantControllers>;
  const first = () => namespaces[0] ?? '';
  const path = (kind: string, name: string, namespace = first()) =>
    `${GROUP}/namespaces/${namespace}/${plurals[kind]}/${name}`;
  const read = async (kind: string, name: string, namespace = first()) =>
    (await kubeOk(plane(), { path: path(kind, name, namespace) })) as Live;
  const condition = async (kind: string, name: string, type = 'Ready', namespace = first()) => {
    const { metadata, status } = await read(kind, name, namespace);
    const found = status.conditions?.find((each) => each.type === type);
    // A condition of an earlier generation is outdated.
    return found?.observedGeneration === metadata.generation ? found : undefined;
  };

  beforeAll(async () => {
    namespaces.push(await cluster.namespace(), await cluster.namespace());
    const connected = connectKube((await options.through?.(plane())) ?? plane());
    const client = wrap?.(connected.client) ?? connected.client;
    metrics = connected.metrics;
    caches = openObjectCaches({ client, clock, log, metrics, namespaces });
    controllers = createTenantControllers({
      ...{ caches, namespaces, clock, log, metrics, ...OFTEN, ...options.often },
      context: {
        ...{ client, clock, findRootDomain: () => 'images.example' },
        sealing: createSealing([{ id: 'k1', key: key ?? randomBytes(32) }]),
        findOrganization: createOrganizations({ clock, findPlans: async () => defaultPlans }),
        events: createEventRecorder({ client, clock, log, instance: 'test' }),
        ...context,
      },
    });
    await caches.synced;
  }, 300_000);
  afterAll(() => caches.stop());

  return {
    plane,
    namespace: first,
    other: () => namespaces[1] ?? '',
    metrics: () => metrics,
    led: async (work, { through = db, epoch = 1, lease_uid = 'lease' } = {}) => {
      const over = new AbortController();
      const { signal } = over;
      const term = { epoch, lease_uid };
      const fence = openFence(through, { ...term, lease: `${first()}/test`, holder: 'test' });
      // Like the operator, leads even while the database is unavailable.
      await fence.raised().catch(() => undefined);
      const leading = controllers.lead({ ...term, ...fence, signal, isCurrent: () => true });
      try {
        await work();
      } finally {
        over.abort();
        await leading;
      }
    },
    apply: (kind, name, spec, { namespace = first(), annotations } = {}) =>
      kubeApply(plane(), path(kind, name, namespace), {
        ...{ apiVersion: 'tintype.dev/v1alpha1', kind, spec },
        metadata: { name, namespace, ...(annotations && { annotations }) },
      }),
    read,
    remove: (kind, name, namespace) =>
      kubeOk(plane(), { method: 'DELETE', path: path(kind, name, namespace) }),
    condition,
    untilReason: (kind, name, reason, namespace) =>
      until(async () =>
        expect((await condition(kind, name, 'Ready', namespace))?.reason).toBe(reason),
      ),
    untilGone: (kind, name, namespace) =>
      until(async () => {
        const { status } = await kubeRequest(plane(), { path: path(kind, name, namespace) });
        expect(status).toBe(404);
      }),
    events: async () => {
      const list = `/apis/events.k8s.io/v1/namespaces/${first()}/events?limit=500`;
      const { items } = (await kubeOk(plane(), { path: list })) as unknown as {
        items: KubeEvent[];
      };
      return items;
    },
    path,
    countWrites: () =>
      sum(
        metrics,
        /^rest_client_requests_total\{.*method="(?:PATCH|POST|PUT|DELETE)".*\} (\d+)$/gm,
      ),
    countPasses: (kind = 'Project') =>
      sum(
        metrics,
        new RegExp(`^controller_runtime_reconcile_total\\{controller="${kind}".*\\} (\\d+)$`, 'gm'),
      ),
  };
}

/** Every test uses new slugs, because projects are never deleted from the database. */
export function newSlug(): string {
  return `p${randomBytes(5).toString('hex')}`;
}

async function sum(metrics: KubeMetrics, counted: RegExp): Promise<number> {
  const lines = (await metrics.print()).matchAll(counted);
  return [...lines].reduce((total, [, count]) => total + Number(count), 0);
}
