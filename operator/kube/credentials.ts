/** The address of the API server and our identity there: the pod's service account, or what kubectl would use. */
import type { RequestOptions } from 'node:https';
import type { Environment } from '../../runtime/platform/config.ts';
import { isInPod, openPodAccount } from './pod-account.ts';
import type { TimedClock } from './timed-clock.ts';

export type Credentials = {
  server: URL;
  /** Certificates and headers of a call; read again every half minute. */
  options(): Promise<RequestOptions>;
  /** The server rejected them: the next call reads everything again. */
  forget(): void;
};

/** The client library takes 75 MB, so it is loaded only to read a kubeconfig, not in a pod. */
export async function openCredentials(env: Environment, clock: TimedClock): Promise<Credentials> {
  if (isInPod(env)) return openPodAccount(env, clock);
  const { openKubeconfig } = await import('./kubeconfig.ts');
  return openKubeconfig({ kind: 'default', named: env['KUBECONFIG'] }, clock);
}
