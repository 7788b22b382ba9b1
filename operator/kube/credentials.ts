/**
 * Where the API server is and who we are to it: the kubeconfig, or the account of the pod. The one place that the
 * Kubernetes client library is used: it knows files, tokens that change, and the programs that make them.
 */
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import type { TimedClock } from './timed-clock.ts';

export type Credentials = {
  server: URL;
  /** Certificates and the header of a call; asked for again every half minute. */
  options(): Promise<RequestOptions>;
  /** They were refused: everything is read anew, tokens that the library keeps for a minute too. */
  forget(): void;
};

/** A kubeconfig by its text or file, or what kubectl would take, or the account of the pod that this runs in. */
export type CredentialSource =
  | { kind: 'text'; kubeconfig: string }
  | { kind: 'file'; file: string }
  | { kind: 'default' };

const FRESH_MS = 30_000;

export function openCredentials(source: CredentialSource, clock: TimedClock): Credentials {
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
  let held: { until: number; options: Promise<RequestOptions> } | undefined;
  return {
    server: new URL(cluster.server),
    options: () => {
      if (held === undefined || held.until <= clock.elapsed()) {
        held = { until: clock.elapsed() + FRESH_MS, options: readOptions(config) };
        held.options.catch(() => {
          held = undefined;
        });
      }
      return held.options;
    },
    forget: () => {
      held = undefined;
      config = load(source);
    },
  };
}

function load(source: CredentialSource): KubeConfig {
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
