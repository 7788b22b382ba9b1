/**
 * The load of a pool of workers: waiting messages are read from the broker, and each pod reports those in work. A pod
 * that should be working and does not answer counts as busy. Spec: Upload session (status).
 */
import type { QueueDepth } from '../../runtime/platform/queue/queue.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { Load } from './decide-scale.ts';

export type WorkerPod = KubeObject & {
  status?: {
    phase?: string;
    podIP?: string;
    conditions?: { type: string; status: string }[];
  };
};

/** How many messages a pod is working on; undefined if it does not say. */
export type ScrapePod = (pod: WorkerPod) => Promise<number | undefined>;

export type PodLoad = { pod: WorkerPod; state: 'busy' | 'idle'; in_hand: number };

export async function readPods(pods: readonly WorkerPod[], scrape: ScrapePod): Promise<PodLoad[]> {
  return Promise.all(pods.filter(isRunning).map((pod) => readPod(pod, scrape)));
}

export function loadOf(
  queues: readonly string[],
  depths: readonly QueueDepth[],
  pods: readonly PodLoad[],
): Load {
  const own = depths.filter(({ queue }) => queues.includes(queue));
  return {
    waiting: sum(own.map(({ waiting }) => waiting)),
    in_hand: sum(pods.map(({ in_hand }) => in_hand)),
    busy_pods: pods.filter(({ state }) => state === 'busy').length,
  };
}

async function readPod(pod: WorkerPod, scrape: ScrapePod): Promise<PodLoad> {
  const in_hand = await scrape(pod);
  // A silent pod that is not ready has taken nothing yet; a pod that lost its storage still
  // answers.
  const isBusy = in_hand === undefined ? isReady(pod) : in_hand > 0;
  return { pod, state: isBusy ? 'busy' : 'idle', in_hand: in_hand ?? 0 };
}

/** A terminating pod ends by itself once its work is done. */
function isRunning({ metadata, status }: WorkerPod): boolean {
  return status?.phase === 'Running' && metadata.deletionTimestamp === undefined;
}

function isReady({ status }: WorkerPod): boolean {
  return (
    status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
