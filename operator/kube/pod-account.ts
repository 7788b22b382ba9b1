/**
 * The service account of the pod that this process runs in: files that Kubernetes keeps up to date in every container.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../runtime/platform/config.ts';
import type { Credentials } from './credentials.ts';
import { keepOptions } from './kept-options.ts';
import type { TimedClock } from './timed-clock.ts';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** A kubeconfig in KUBECONFIG takes precedence over the pod's account. */
export function isInPod(env: Environment): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST']) && !env['KUBECONFIG'];
}

/** `folder`: where the account's files are. */
export function openPodAccount(
  env: Environment,
  clock: TimedClock,
  folder: string = ACCOUNT,
): Credentials {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env;
  const read = async () => {
    const [ca, token] = await Promise.all(
      ['ca.crt', 'token'].map((file) => readFile(join(folder, file), 'utf8')),
    );
    return { ca, headers: { authorization: `Bearer ${token?.trim()}` } };
  };
  const server = new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`);
  return { server, ...keepOptions(read, clock) };
}
