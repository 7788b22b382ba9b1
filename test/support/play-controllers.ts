/**
 * Plays the controllers of Jobs and Deployments in a cluster without them: writes the status of objects whose pods all
 * succeed. No pods are created, and every pass is immediate.
 */
import { kubeOk, kubeRequest, type PlaneAddress } from './kube-request.ts';

type Conditions = { type: string; status: string; reason?: string }[];
type Played = {
  metadata: { name: string; generation: number };
  spec: { replicas?: number; template: { spec: { containers: { image: string }[] } } };
  status: { observedGeneration?: number; conditions?: Conditions };
};

/**
 * Pods with the image `bad` do not become ready. `late` means that their deadline of ten minutes
 * has passed.
 */
type Playing = { namespace: string; bad?: { image: string; state: 'waiting' | 'late' } };

const at = '2026-11-21T12:00:00Z';

/** Runs one pass, which does not touch objects whose status is already right. */
export async function playControllers(plane: PlaneAddress, playing: Playing): Promise<void> {
  await playAll(plane, `/apis/batch/v1/namespaces/${playing.namespace}/jobs`, jobStatus);
  await playAll(plane, `/apis/apps/v1/namespaces/${playing.namespace}/deployments`, (deployment) =>
    deploymentStatus(deployment, playing.bad),
  );
}

async function playAll(
  plane: PlaneAddress,
  path: string,
  statusOf: (played: Played) => object | undefined,
): Promise<void> {
  const { items } = (await kubeOk(plane, { path })) as { items: Played[] };
  for (const played of items) {
    const status = statusOf(played);
    if (status === undefined) continue;
    // The object may have been deleted in the meantime, so the response is ignored.
    await kubeRequest(plane, {
      ...{ method: 'PATCH', path: `${path}/${played.metadata.name}/status?fieldManager=played` },
      ...{ body: { status }, content_type: 'application/merge-patch+json' },
    });
  }
}

function jobStatus({ status: { conditions = [] } }: Played): object | undefined {
  if (conditions.length > 0) return undefined;
  const times = { lastProbeTime: at, lastTransitionTime: at };
  const ended = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    ...{ type, status: 'True', ...times },
  }));
  return { startTime: at, completionTime: at, succeeded: 1, conditions: ended };
}

const progresses = {
  ready: { status: 'True', reason: 'NewReplicaSetAvailable' },
  waiting: { status: 'True', reason: 'ReplicaSetUpdated' },
  late: { status: 'False', reason: 'ProgressDeadlineExceeded' },
};

function deploymentStatus(
  { metadata: { generation }, spec: { replicas = 1, template }, status }: Played,
  bad: Playing['bad'],
): object | undefined {
  const isBad = template.spec.containers.some(({ image }) => image === bad?.image);
  const progress = progresses[isBad && bad !== undefined ? bad.state : 'ready'];
  const isSaid = status.conditions?.some(({ reason }) => reason === progress.reason);
  if (status.observedGeneration === generation && isSaid) return undefined;
  const ready = isBad ? 0 : replicas;
  const times = { lastUpdateTime: at, lastTransitionTime: at };
  return {
    ...{ observedGeneration: generation, replicas, updatedReplicas: replicas },
    ...{ readyReplicas: ready, availableReplicas: ready },
    conditions: [{ type: 'Progressing', message: '', ...progress, ...times }],
  };
}
