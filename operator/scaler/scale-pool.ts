/**
 * One look at one pool of workers: marks busy pods, so that they are not the ones to be removed, then sets the number,
 * through the Deployment's scale subresource only. Spec: Upload session (status).
 */
import type { Log } from '../../runtime/platform/log.ts';
import type { QueueDepth } from '../../runtime/platform/queue/queue.ts';
import type { Pool } from '../image-service/render/autoscaling.ts';
import { deployments, ownedLabels, pods } from '../installation/live-types.ts';
import type { KubeClient } from '../kube/client.ts';
import { unwrap } from '../kube/kube-failure.ts';
import type { KubeObject, ResourceType } from '../kube/resource.ts';
import { decideScale, desiredReplicas, type Recommendation } from './decide-scale.ts';
import { loadOf, type PodLoad, readPods, type ScrapePod, type WorkerPod } from './read-load.ts';

export type PoolPlace = { name: string; namespace: string; pool: Pool };

export type ScaleContext = { client: KubeClient; scrape: ScrapePod; log: Log };

export type ScaleResult = {
  recommendations: Recommendation[];
  from: number;
  to: number;
  /** What the load asks for, regardless of the limits. */
  wanted: number;
};

/** Undefined if the Deployment does not exist. */
export async function scalePool(
  place: PoolPlace,
  seen: {
    depths: readonly QueueDepth[];
    recommendations: readonly Recommendation[];
    now_ms: number;
  },
  context: ScaleContext,
): Promise<ScaleResult | undefined> {
  const { client } = context;
  const { namespace, pool } = place;
  const deployment = { name: `${place.name}-${pool.component}`, namespace };
  const current = await findReplicas(client, deployment);
  if (current === undefined) return undefined;
  const load = loadOf(pool.queues, seen.depths, await markBusy(place, context));
  const { recommendations, now_ms } = seen;
  const decided = decideScale(pool, load, { recommendations, current, now_ms });
  if (decided.replicas !== current) {
    const body = { spec: { replicas: decided.replicas } };
    unwrap(await client.merge(deployments, deployment, { body, subresource: 'scale' }));
  }
  const wanted = desiredReplicas(pool, load);
  return { recommendations: decided.recommendations, from: current, to: decided.replicas, wanted };
}

/** Whoever removes pods afterwards removes busy ones last. */
export async function markBusy(
  { name, namespace, pool }: PoolPlace,
  { client, scrape, log }: ScaleContext,
): Promise<PodLoad[]> {
  const labels = `${ownedLabels(name)},app.kubernetes.io/component=${pool.component}`;
  const listed = await client.listPage(workerPods, { namespace, labels, limit: 0 });
  const loads = await readPods(unwrap(listed).items, scrape);
  await Promise.all(loads.map((load) => mark(client, load).catch(unmarked(log, load))));
  return loads;
}

/** Scaling matters more than which pod is removed first. */
function unmarked(log: Log, { pod: { metadata } }: PodLoad) {
  return (error: unknown) => {
    log.warn('a pod could not be marked as busy or idle', { name: metadata.name, error });
  };
}

const workerPods = pods as ResourceType<WorkerPod>;

async function findReplicas(
  client: KubeClient,
  place: { name: string; namespace: string },
): Promise<number | undefined> {
  const answer = await client.get(deployments, place);
  if (!answer.ok && answer.failure.reason === 'NotFound') return undefined;
  const { spec = {} }: KubeObject & { spec?: { replicas?: number } } = unwrap(answer);
  return spec.replicas ?? 1;
}

/** Of otherwise equal pods the one with the lower cost is removed first. */
const COST = 'controller.kubernetes.io/pod-deletion-cost';

async function mark(client: KubeClient, { pod, state, in_hand }: PodLoad): Promise<void> {
  const cost = state === 'idle' ? null : String(Math.max(1, in_hand));
  const { annotations = {}, name, namespace } = pod.metadata;
  if ((annotations[COST] ?? null) === cost) return;
  const body = { metadata: { annotations: { [COST]: cost } } };
  const answer = await client.merge(pods, { name, namespace }, { body });
  // The pod ended by itself.
  if (!answer.ok && answer.failure.reason !== 'NotFound') throw answer.failure;
}
