/**
 * Runs a process of a deployment from its environment alone: serves health checks, opens its dependencies and waits for
 * unavailable ones, logs one line when it is ready, and drains on SIGTERM. All missing configuration is reported at
 * once.
 */
import {
  type ConfigField,
  type ConfigWith,
  type Environment,
  parseConfig,
} from '../platform/config.ts';
import { type HealthOptions, startHealthServer } from '../platform/http/health-server.ts';
import { type Lifecycle, runProcess } from '../platform/lifecycle.ts';
import { createLog, type LogFields } from '../platform/log.ts';
import { createMetrics } from '../platform/metrics.ts';
import { findReadiness, type Probes } from '../platform/readiness.ts';
import { startTracing } from '../platform/tracing/start-tracing.ts';
import { warnOfUnknownVariables } from '../platform/unknown-variables.ts';
import {
  type Deps,
  dependenciesOf,
  deploymentFields,
  openDeployment,
  probesOf,
} from './open-deps.ts';
import { createStartupRetry, notReadyProbes } from './startup-retry.ts';

/** Within Kubernetes' default of 30 seconds for a pod. */
export const END_MS_MAX = 25_000;
/**
 * A hanging upload is given up after two minutes: a worker finishes what it has begun, and no other
 * repeats it.
 */
export const WORKER_END_MS_MAX = 150_000;
/** Uploads still being sent get a minute. */
export const API_END_MS_MAX = 70_000;
/** Unsent usage is lost with its pod's volume, so delivery waits five minutes for the database. */
export const DELIVERY_END_MS_MAX = 335_000;
const CLOSE_MS = 5_000;

type DeploymentField = (typeof deploymentFields)[number];

export type DeploymentProcess<Field extends ConfigField> = {
  name: string;
  env: Environment;
  /** Required configuration beyond the database, the storage and the broker. */
  fields: readonly Field[];
  /** How long running work may take to stop; END_MS_MAX by default. */
  end_ms_max?: number;
  /** How long the process may linger after that; short by default. */
  held_ms?: number;
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
  warnOfUnknownVariables(wanted.env, log);
  await runProcess({ log, ...deadlinesOf(wanted) }, async (lifecycle) => {
    const started = performance.now();
    await startTracing(config, { name: wanted.name, log, lifecycle });
    const metrics = createMetrics();
    const startupRetry = createStartupRetry({ log, lifecycle });
    let { probes } = startupRetry;
    let dependencies = probes;
    let starting: Probes = {};
    const watched = {
      metrics,
      log,
      probes: () => probes(),
      dependencies: () => dependencies(),
      starting: () => starting,
    };
    const watch_port = await openHealth(watched, { port: config.metricsPort, lifecycle });
    const deps = await openDeployment(config, { log, lifecycle, metrics, startupRetry });
    probes = () => probesOf(deps);
    dependencies = () => dependenciesOf(deps);
    // Not ready until its own part runs, because Kubernetes removes old pods once new ones are
    // ready.
    starting = notReadyProbes('start');
    const { port } = await wanted.start({ deps, config, lifecycle });
    starting = {};
    const duration_ms = Math.round(performance.now() - started);
    log.info('ready', { ...defined({ port, watch_port }), duration_ms });
  });
}

type Deadlines = Pick<DeploymentProcess<never>, 'end_ms_max' | 'held_ms'>;

/** A single part may take the whole time except what the others need to close. */
function deadlinesOf({ end_ms_max = END_MS_MAX, held_ms }: Deadlines) {
  return { deadline_ms: end_ms_max, part_deadline_ms: end_ms_max - CLOSE_MS, held_ms };
}

type Watching = { port: number | undefined; lifecycle: Lifecycle };

/**
 * Serves health checks if a port is configured. Started before the process's own part, so that it
 * answers until that part has stopped.
 */
export function serveHealthChecks({ metrics, log, ...deps }: Deps, watching: Watching) {
  const probes = () => probesOf(deps);
  const dependencies = () => dependenciesOf(deps);
  return openHealth({ metrics, log, probes, dependencies }, watching);
}

/**
 * `dependencies`: what alerts go by. `starting`: further reasons not to be ready, which do not
 * count as failing dependencies, so that a start alerts nobody.
 */
type Watched = Omit<HealthOptions, 'port'> & {
  dependencies: () => Probes;
  starting?: () => Probes;
};

async function openHealth(
  { starting = () => ({}), dependencies, ...watched }: Watched,
  { port, lifecycle }: Watching,
): Promise<number | undefined> {
  const { metrics, log, probes } = watched;
  metrics.registerSources({
    dependencies: async () => (await findReadiness(dependencies(), log)).checks,
  });
  if (port === undefined) return undefined;
  const all = () => ({ ...probes(), ...starting() });
  const health = await startHealthServer({ port, ...watched, probes: all });
  lifecycle.onStop('health', health.stop);
  return health.port;
}

function defined(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
