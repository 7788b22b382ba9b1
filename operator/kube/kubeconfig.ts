/**
 * Credentials from a kubeconfig. The one place that the Kubernetes client library is used: it knows files, tokens that
 * change, and the programs that make them.
 */
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import type { Credentials } from './credentials.ts';
import { keepOptions } from './kept-options.ts';
import type { TimedClock } from './timed-clock.ts';

/** A kubeconfig by its text or file, or the one that kubectl would take. */
export type KubeconfigSource =
  | { kind: 'text'; kubeconfig: string }
  | { kind: 'file'; file: string }
  | { kind: 'default' };

export function openKubeconfig(source: KubeconfigSource, clock: TimedClock): Credentials {
  let config = load(source);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new Error(
      'the kubeconfig names no cluster: set its current-context, or name another file',
    );
  }
  if (cluster.proxyUrl !== undefined) {
    throw new Error(
      'a proxy-url in the kubeconfig is not supported: reach the API server directly',
    );
  }
  const { options, forget } = keepOptions(() => readOptions(config), clock);
  return {
    server: new URL(cluster.server),
    options,
    // The library keeps tokens for a minute.
    forget: () => {
      forget();
      config = load(source);
    },
  };
}

function load(source: KubeconfigSource): KubeConfig {
  const config = new KubeConfig();
  if (source.kind === 'text') config.loadFromString(source.kubeconfig);
  else if (source.kind === 'file') config.loadFromFile(source.file);
  else config.loadFromDefault();
  return config;
}

/** Without the agent that the library makes for every call: one that keeps its connections is ours. */
async function readOptions(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  delete options.agent;
  return options;
}
