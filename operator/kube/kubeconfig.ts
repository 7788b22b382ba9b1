/**
 * Credentials from a kubeconfig. The only use of the Kubernetes client library: it supports files, rotating tokens, and
 * the programs that create them.
 */
import { accessSync, constants } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { Advice } from '../../runtime/platform/advice.ts';
import type { Credentials } from './credentials.ts';
import { keepOptions } from './kept-options.ts';
import type { TimedClock } from './timed-clock.ts';

/**
 * A kubeconfig by its text or file, or the one that kubectl would use; `named`: the one of
 * KUBECONFIG.
 */
export type KubeconfigSource =
  | { kind: 'text'; kubeconfig: string }
  | { kind: 'file'; file: string }
  | { kind: 'default'; named: string | undefined };

/**
 * Throws a one-line error if the kubeconfig is faulty, as for any other setting, for the person who
 * named it.
 */
export function openKubeconfig(source: KubeconfigSource, clock: TimedClock): Credentials {
  let config = load(source);
  const server = serverOf(config, source);
  proveFiles(config, source);
  const { options, forget } = keepOptions(() => readOptions(config), clock);
  return {
    server,
    options,
    // The library caches tokens for a minute.
    forget: () => {
      forget();
      config = load(source);
    },
  };
}

function load(source: KubeconfigSource): KubeConfig {
  const config = new KubeConfig();
  try {
    if (source.kind === 'text') config.loadFromString(source.kubeconfig);
    else if (source.kind === 'file') config.loadFromFile(source.file);
    else config.loadFromDefault();
  } catch (cause) {
    throw wrong(source, { what: whyUnreadable(cause), cause });
  }
  return config;
}

function serverOf(config: KubeConfig, source: KubeconfigSource): URL {
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    const context = config.getCurrentContext();
    const what = context
      ? `has no cluster for its current-context ${context}`
      : 'has no current-context';
    throw wrong(source, { what });
  }
  if (cluster.proxyUrl !== undefined) {
    throw wrong(source, { what: 'has a proxy-url, which is not supported' });
  }
  if (!URL.canParse(cluster.server)) {
    throw wrong(source, { what: `names no URL as the server of its cluster ${cluster.name}` });
  }
  return new URL(cluster.server);
}

/**
 * A missing file would otherwise only show as a refusal by the API server, which says nothing about
 * files.
 */
function proveFiles(config: KubeConfig, source: KubeconfigSource): void {
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  for (const file of [cluster?.caFile, user?.certFile, user?.keyFile]) {
    if (!file) continue;
    try {
      accessSync(file, constants.R_OK);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw wrong(source, { what: `names ${file}, which cannot be read (${code})`, cause });
    }
  }
}

/**
 * Only the first line: the parser's later lines show the text around the fault, which may be a
 * secret.
 */
function whyUnreadable(cause: unknown): string {
  if (!(cause instanceof Error)) return 'cannot be read';
  if ('code' in cause) return `cannot be read (${cause.code})`;
  return `is not a kubeconfig (${cause.message.split('\n', 1)[0]})`;
}

function wrong(source: KubeconfigSource, fault: { what: string; cause?: unknown }): Advice {
  const advice = 'correct it, or set KUBECONFIG to one with which kubectl reaches the cluster';
  return new Advice(`${nameOf(source)} ${fault.what}: ${advice}`, { cause: fault.cause });
}

function nameOf(source: KubeconfigSource): string {
  if (source.kind === 'text') return 'the kubeconfig';
  const file = source.kind === 'file' ? source.file : source.named;
  return `the kubeconfig ${file || '~/.kube/config'}`;
}

/** Without the agent that the library creates for every call: ours keeps its connections. */
async function readOptions(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  delete options.agent;
  return options;
}
