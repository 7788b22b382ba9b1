/**
 * A process of a deployment, from its environment alone: answers those who watch it, opens what it needs and waits for
 * what is away, says in one line when it is ready, and drains at SIGTERM. What it was not told is said at once, all of it.
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
import { type Deps, deploymentFields, openDeployment, probesOf } from './open-deps.ts';
import { createPatience, notYet } from './patience.ts';

/** Within the 30 seconds that Kubernetes gives a pod where nothing else is said. */
export const END_MS_MAX = 25_000;
/** An upload that hangs is given up after two minutes: whatever a worker has begun it ends, and nobody does it again. */
export const WORKER_END_MS_MAX = 150_000;
/** Bytes of an upload that are still being sent have a minute. */
export const API_END_MS_MAX = 70_000;
/** Usage goes with the volume of its pod: while the database is away, delivery waits five minutes for it. */
export const DELIVERY_END_MS_MAX = 335_000;
const CLOSE_MS = 5_000;

type DeploymentField = (typeof deploymentFields)[number];

export type DeploymentProcess<Field extends ConfigField> = {
  name: string;
  env: Environment;
  /** What it has to be told beside the database, the storage and the broker. */
  fields: readonly Field[];
  /** How long what runs may take to end; END_MS_MAX where it is left out. */
  end_ms_max?: number;
  /** How long after that the process may go on; a little where it is left out. */
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
    const patience = createPatience({ log, lifecycle });
    let { probes } = patience;
    let starting: Probes = {};
    const watched = { metrics, log, probes: () => probes(), starting: () => starting };
    const watch_port = await openHealth(watched, { port: config.metricsPort, lifecycle });
    const deps = await openDeployment(config, { log, lifecycle, metrics, patience });
    probes = () => probesOf(deps);
    // Old pods go when new ones are ready: by then those work.
    starting = notYet('start');
    const { port } = await wanted.start({ deps, config, lifecycle });
    starting = {};
    const duration_ms = Math.round(performance.now() - started);
    log.info('ready', { ...defined({ port, watch_port }), duration_ms });
  });
}

type Deadlines = Pick<DeploymentProcess<never>, 'end_ms_max' | 'held_ms'>;

/** A part alone may take all but what the others need to close. */
function deadlinesOf({ end_ms_max = END_MS_MAX, held_ms }: Deadlines) {
  return { deadline_ms: end_ms_max, part_deadline_ms: end_ms_max - CLOSE_MS, held_ms };
}

type Watching = { port: number | undefined; lifecycle: Lifecycle };

/** Where a port is named for it. Before the process's own part, so that it answers until that has ended. */
export function watch({ metrics, log, ...deps }: Deps, watching: Watching) {
  return openHealth({ metrics, log, probes: () => probesOf(deps) }, watching);
}

/** `starting`: what keeps it from being ready beside what it uses; nobody is to be called for the time of a start. */
type Watched = Omit<HealthOptions, 'port'> & { starting?: () => Probes };

async function openHealth(
  { starting = () => ({}), ...watched }: Watched,
  { port, lifecycle }: Watching,
): Promise<number | undefined> {
  const { metrics, log, probes } = watched;
  metrics.watch({ dependencies: async () => (await findReadiness(probes(), log)).checks });
  if (port === undefined) return undefined;
  const all = () => ({ ...probes(), ...starting() });
  const health = await startHealthServer({ port, ...watched, probes: all });
  lifecycle.onStop('health', health.stop);
  return health.port;
}

function defined(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
