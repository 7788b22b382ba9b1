/**
 * A process of a deployment, from its environment alone: opens what it needs, answers those who watch it, says in
 * one line when it is ready, and drains at SIGTERM. What is missing is said at once, all of it.
 */
import {
  type ConfigField,
  type ConfigWith,
  type Environment,
  parseConfig,
} from '../platform/config.ts';
import { startHealthServer } from '../platform/http/health-server.ts';
import { type Lifecycle, runProcess } from '../platform/lifecycle.ts';
import { createLog, type LogFields } from '../platform/log.ts';
import { startTracing } from '../platform/tracing/start-tracing.ts';
import { type Deps, deploymentFields, openDeployment, probesOf } from './open-deps.ts';

/** Within the 30 seconds that Kubernetes gives a pod. */
export const END_MS_MAX = 25_000;

type DeploymentField = (typeof deploymentFields)[number];

export type DeploymentProcess<Field extends ConfigField> = {
  name: string;
  env: Environment;
  /** What it has to be told beside the database, the storage and the broker. */
  fields: readonly Field[];
  start(context: {
    deps: Deps;
    config: ConfigWith<Field | DeploymentField>;
    lifecycle: Lifecycle;
  }): Promise<{ port?: number }>;
};

export async function runDeployment<Field extends ConfigField>(
  wanted: DeploymentProcess<Field>,
): Promise<void> {
  const fields = [...deploymentFields, ...wanted.fields];
  const config = parseConfig<Field | DeploymentField>(wanted.env, fields);
  const log = createLog({
    level: config.logLevel,
    name: wanted.name,
    format: process.stderr.isTTY ? 'text' : 'json',
    destination: process.stderr,
  });
  await runProcess({ log, deadline_ms: END_MS_MAX }, async (lifecycle) => {
    const started = performance.now();
    await startTracing(config, { name: wanted.name, log, lifecycle });
    const deps = await openDeployment(config, { log, lifecycle });
    const watch_port = await watch(deps, { port: config.metricsPort, lifecycle });
    const { port } = await wanted.start({ deps, config, lifecycle });
    const duration_ms = Math.round(performance.now() - started);
    log.info('ready', { ...defined({ port, watch_port }), duration_ms });
  });
}

/** Where a port is named for it. Before the process's own part, so that it answers until that has ended. */
export async function watch(
  { metrics, log, ...deps }: Deps,
  { port, lifecycle }: { port: number | undefined; lifecycle: Lifecycle },
): Promise<number | undefined> {
  if (port === undefined) return undefined;
  const health = await startHealthServer({ port, metrics, log, probes: probesOf(deps) });
  lifecycle.onStop('health', health.stop);
  return health.port;
}

function defined(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
