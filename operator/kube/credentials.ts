/** Where the API server is and who we are to it: the account of the pod, or what kubectl would take. */
import type { RequestOptions } from 'node:https';
import type { Environment } from '../../runtime/platform/config.ts';
import { isInPod, openPodAccount } from './pod-account.ts';
import type { TimedClock } from './timed-clock.ts';

export type Credentials = {
  server: URL;
  /** Certificates and the header of a call; asked for again every half minute. */
  options(): Promise<RequestOptions>;
  /** They were refused: everything is read anew. */
  forget(): void;
};

/** The client library is loaded where a kubeconfig is read, since it takes 75 MB: not in a pod. */
export async function openCredentials(env: Environment, clock: TimedClock): Promise<Credentials> {
  if (isInPod(env)) return openPodAccount(env, clock);
  const { openKubeconfig } = await import('./kubeconfig.ts');
  return openKubeconfig({ kind: 'default', named: env['KUBECONFIG'] }, clock);
}
