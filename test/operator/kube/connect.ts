/** Creates a client of the operator for tests, as one of the identities of the control plane. */
import { createKubeClient, type KubeClient } from '../../../operator/kube/client.ts';
import { openKubeconfig } from '../../../operator/kube/kubeconfig.ts';
import { createKubeMetrics, type KubeMetrics } from '../../../operator/kube/metrics.ts';
import { systemTimedClock, type TimedClock } from '../../../operator/kube/timed-clock.ts';
import { kubeconfig } from '../../support/control-plane.ts';
import type { Identity, PlaneAddress } from '../../support/kube-request.ts';

export type Connected = { client: KubeClient; metrics: KubeMetrics };

export function connectKube(
  plane: PlaneAddress,
  options: { as?: Identity; clock?: TimedClock; deadline_ms?: number } = {},
): Connected {
  const { clock = systemTimedClock, as = 'admin', ...rest } = options;
  const metrics = createKubeMetrics();
  const credentials = openKubeconfig({ kind: 'text', kubeconfig: kubeconfig(plane, as) }, clock);
  return { client: createKubeClient({ credentials, clock, metrics, ...rest }), metrics };
}
