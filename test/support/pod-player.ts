/**
 * Plays the scheduler and the kubelet for the pods of a namespace, as the test decides. The controllers of the control
 * plane are real and react to the status of the pods.
 */
import { kubeOk, kubeRequest, type PlaneAddress } from './kube-request.ts';

/** `wait` leaves the pod pending, as if its image were still being pulled. */
export type Outcome = 'ready' | 'succeed' | 'fail' | 'crash' | 'wait';

export type PlayedPod = {
  metadata: { name: string; labels: Record<string, string> };
  spec: { containers: { image: string; args: string[] }[] };
};

export type PodPlayer = { stop(): Promise<void> };

export function playPods(
  plane: PlaneAddress,
  namespace: string,
  outcomeOf: (pod: PlayedPod) => Outcome,
): PodPlayer {
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      await playOnce(plane, namespace, outcomeOf);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    stop: () => {
      isOver = true;
      return running;
    },
  };
}

async function playOnce(
  plane: PlaneAddress,
  namespace: string,
  outcomeOf: (pod: PlayedPod) => Outcome,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const pending = `${path}?fieldSelector=status.phase%3DPending`;
  const { items } = (await kubeOk(plane, { path: pending })) as { items: PlayedPod[] };
  await Promise.all(
    items.map(async (pod) => {
      const outcome = outcomeOf(pod);
      if (outcome === 'wait') return;
      // The pod may have been deleted in the meantime, so the response is ignored.
      await kubeRequest(plane, {
        ...{ method: 'PATCH', path: `${path}/${pod.metadata.name}/status` },
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
