/**
 * The built-in scaler: every ten seconds it handles each pool of workers, of each installation, whose number nobody
 * else sets. A failed request for the load is no reason to remove workers. If KEDA sets the number, busy pods are still
 * marked. Spec: Upload session (status).
 */
import type { Log } from '../../runtime/platform/log.ts';
import { createOutageLog, type OutageLog } from '../../runtime/platform/outage-log.ts';
import type { QueueDepth } from '../../runtime/platform/queue/queue.ts';
import { type Installation, scalerOf } from '../image-service/installation.ts';
import { type Pool, poolsOf } from '../image-service/render/autoscaling.ts';
import { urlKey } from '../image-service/secrets.ts';
import { readSecret } from '../installation/read-secrets.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Term } from '../kube/lease.ts';
import type { KubeMetrics } from '../kube/metrics.ts';
import { ended, sleep, type TimedClock } from '../kube/timed-clock.ts';
import { type BrokerDepths, createBrokerDepths } from './broker-depths.ts';
import type { Recommendation } from './decide-scale.ts';
import type { ScrapePod } from './read-load.ts';
import { markBusy, scalePool } from './scale-pool.ts';

/**
 * The result of a pass over an ImageService: how its workers are scaled; `as before` if it could
 * not be read.
 */
type Passed = { gathered: { installation: Installation } | 'as before' | undefined };

export type Scaler = {
  take(key: string, passed: Passed): void;
  lead(term: Term): Promise<void>;
};

export type ScalerOptions = {
  client: KubeClient;
  clock: TimedClock;
  log: Log;
  metrics: ScalerMetrics;
  scrape: ScrapePod;
  every_ms?: number;
};

type ScalerMetrics = Pick<KubeMetrics, 'recordPool' | 'recordScalerRun' | 'forgetPools'>;

const EVERY_MS = 10_000;

type State = ScalerOptions & {
  installations: Map<string, Installation>;
  recommendations: Map<string, readonly Recommendation[]>;
};

export function createScaler(options: ScalerOptions): Scaler {
  const state: State = { ...options, installations: new Map(), recommendations: new Map() };
  return {
    take: (key, { gathered }) => {
      if (gathered === 'as before') return;
      const isScaled = gathered !== undefined && scalerOf(gathered.installation) !== 'nobody';
      if (isScaled) state.installations.set(key, gathered.installation);
      else state.installations.delete(key);
    },
    lead: (term) => lead(state, term),
  };
}

async function lead(state: State, { signal, isCurrent }: Term): Promise<void> {
  const { clock, installations, log, metrics, every_ms = EVERY_MS } = state;
  const term: ScalerTerm = { broker: createBrokerDepths(log), looked: new Map() };
  while (!signal.aborted) {
    await forgetOthers(state, term);
    for (const [key, installation] of installations) {
      if (!isCurrent()) break;
      // Set before the first look, so that an installation whose look never ends shows too.
      if (!term.looked.has(key)) metrics.recordScalerRun(key, clock.now());
      const { outage } = term.looked.get(key) ?? { outage: outageOf(key, log) };
      term.looked.set(key, { installation, outage });
      const looked = scaleInstallation(state, { key, installation, broker: term.broker });
      // A broker that does not answer must not hold the Lease.
      await Promise.race([looked.then(outage.succeeded, outage.failed), ended(signal)]);
    }
    await sleep(clock, every_ms, signal);
  }
  installations.clear();
  await forgetOthers(state, term);
}

type ScalerTerm = {
  broker: BrokerDepths;
  looked: Map<string, { installation: Installation; outage: OutageLog }>;
};

function outageOf(key: string, log: Log): OutageLog {
  return createOutageLog(log, {
    says: 'workers cannot be scaled; retrying',
    fields: { name: key },
  });
}

/** Forgets installations that are no longer scaled here, including their metrics. */
async function forgetOthers(
  { installations, recommendations, metrics }: State,
  { broker, looked }: ScalerTerm,
): Promise<void> {
  for (const [key, { installation: last }] of looked) {
    const now = installations.get(key);
    if (now !== undefined && scalerOf(now) === scalerOf(last)) continue;
    looked.delete(key);
    const components = poolsOf(last).map(({ component }) => component);
    for (const component of components) recommendations.delete(`${key} ${component}`);
    metrics.forgetPools(key, components);
    await broker.close(key);
  }
}

type ScaleRun = { key: string; installation: Installation; broker: BrokerDepths };

async function scaleInstallation(state: State, seen: ScaleRun): Promise<void> {
  const { key, installation } = seen;
  const { name, namespace } = installation;
  if (scalerOf(installation) === 'built-in') await scaleAll(state, seen);
  else {
    for (const pool of poolsOf(installation)) await markBusy({ name, namespace, pool }, state);
  }
  state.metrics.recordScalerRun(key, state.clock.now());
}

async function scaleAll(state: State, { key, installation, broker }: ScaleRun): Promise<void> {
  const { namespace, spec } = installation;
  const reference = spec.amqpSecretRef;
  const secret = await readSecret(state.client, { name: reference.name, namespace });
  const url = secret?.[urlKey(reference)];
  if (url === undefined) throw new Error(`Secret '${reference.name}' lacks the address`);
  const depths = await broker.read(key, url);
  for (const pool of poolsOf(installation)) {
    await scaleOne(state, { key, installation, pool, depths });
  }
}

type OnePool = Pick<ScaleRun, 'key' | 'installation'> & {
  pool: Pool;
  depths: readonly QueueDepth[];
};

async function scaleOne(state: State, { key, installation, pool, depths }: OnePool): Promise<void> {
  const { clock, log, metrics } = state;
  const { name, namespace } = installation;
  const { component, max } = pool;
  const before = state.recommendations.get(`${key} ${component}`) ?? [];
  const seen = { depths, recommendations: before, now_ms: clock.elapsed() };
  const looked = await scalePool({ name, namespace, pool }, seen, state);
  if (looked === undefined) return;
  const { recommendations, from, to, wanted } = looked;
  state.recommendations.set(`${key} ${component}`, recommendations);
  metrics.recordPool({ installation: key, component, workers: to, wanted, max });
  if (from === to) return;
  const changes = [`${from} to ${to} pods`];
  log.info('workers were scaled', { name: `${key}-${component}`, changes });
}
