/**
 * Plays the scheduler and the kubelet for the pods of a namespace, as the test decides. The controllers of the control
 * plane are real and react to the status of the pods.
 */
import { kubeRequest, kubeWatch, type PlaneAddress } from './kube-request.ts';

/** `wait` leaves the pod pending, as if its image were still being pulled. */
export type Outcome = 'ready' | 'succeed' | 'fail' | 'crash' | 'wait';

export type PlayedPod = {
  metadata: { name: string; labels: Record<string, string> };
  spec: { restartPolicy: string; containers: { image: string; args: string[] }[] };
};

export type PodPlayer = { stop(): Promise<void> };

export function playPods(
  plane: PlaneAddress,
  namespace: string,
  outcomeOf: (pod: PlayedPod) => Outcome,
): PodPlayer {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const over = new AbortController();
  const pending = new Map<string, PlayedPod>();
  const watching = followPending(plane, { path, pending, signal: over.signal });
  // A pod may wait for something that no event of the API server reports.
  const playing = (async () => {
    while (!over.signal.aborted) {
      await playOnce(plane, { path, pending, outcomeOf });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    stop: async () => {
      over.abort();
      await Promise.all([watching, playing]);
    },
  };
}

type Pending = { path: string; pending: Map<string, PlayedPod> };

/** Keeps `pending` up to date. Asking again and again would occupy the API server of all tests. */
async function followPending(
  plane: PlaneAddress,
  { path, pending, signal }: Pending & { signal: AbortSignal },
): Promise<void> {
  const selected = `${path}?fieldSelector=status.phase%3DPending`;
  while (!signal.aborted) {
    pending.clear();
    for await (const { type, object } of kubeWatch(plane, { path: selected, signal })) {
      const pod = object as PlayedPod;
      if (type === 'DELETED') pending.delete(pod.metadata.name);
      else pending.set(pod.metadata.name, pod);
    }
  }
}

async function playOnce(
  plane: PlaneAddress,
  { path, pending, outcomeOf }: Pending & { outcomeOf: (pod: PlayedPod) => Outcome },
): Promise<void> {
  await Promise.all(
    [...pending].map(async ([name, pod]) => {
      const outcome = outcomeOf(pod);
      if (outcome === 'wait') return;
      pending.delete(name);
      // The pod may have been deleted in the meantime, so the response is ignored.
      await kubeRequest(plane, {
        ...{ method: 'PATCH', path: `${path}/${name}/status` },
        body: { status: statuses[outcome](pod) },
        content_type: 'application/merge-patch+json',
      });
    }),
  );
}

const started = '2026-11-21T12:00:00Z';

function containerStatus({ spec }: PlayedPod, more: object): object {
  const { image = '' } = spec.containers[0] ?? {};
  return { ...{ name: 'tintype', image, imageID: '', restartCount: 1 }, ...more };
}

const ended = { exitCode: 1, startedAt: started, finishedAt: started };
const LAST_LINE = 'is TINTYPE_DATABASE_URL right?\n';

const statuses: Record<Exclude<Outcome, 'wait'>, (pod: PlayedPod) => object> = {
  ready: (pod) => ({
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: started }],
    containerStatuses: [
      containerStatus(pod, { ready: true, state: { running: { startedAt: started } } }),
    ],
  }),
  succeed: (pod) => ({
    phase: 'Succeeded',
    containerStatuses: [
      containerStatus(pod, { ready: false, state: { terminated: { ...ended, exitCode: 0 } } }),
    ],
  }),
  fail: (pod) => ({
    phase: 'Failed',
    containerStatuses: [
      containerStatus(pod, {
        ready: false,
        state: { terminated: { ...ended, message: LAST_LINE } },
      }),
    ],
  }),
  crash: (pod) => ({
    phase: 'Running',
    containerStatuses: [
      containerStatus(pod, {
        ready: false,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { ...ended, message: LAST_LINE } },
      }),
    ],
  }),
};
