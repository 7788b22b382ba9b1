/**
 * A controller's metrics, under the names of client-go and controller-runtime, so that public dashboards and alerts
 * work unchanged; plus the age of each cache, which those do not have.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { listMetrics } from '../../runtime/platform/list-metrics.ts';
import { heldMetrics } from './held-metrics.ts';
import { installationMetrics } from './installation-metrics.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];

export type KubeMetrics = ReturnType<typeof createKubeMetrics>;

export function createKubeMetrics() {
  const registry = new Registry();
  return {
    ...restMetrics(registry),
    ...cacheMetrics(registry),
    ...queueMetrics(registry),
    ...reconcileMetrics(registry),
    ...resourceMetrics(registry),
    ...heldMetrics((shape, readState) => {
      const collect = function (this: Gauge): void {
        this.reset();
        for (const { labels, value } of readState()) this.set(labels, value);
      };
      new Gauge({ ...shape, registers: [registry], collect });
    }),
    ...installationMetrics(
      (name, help, labelNames) => new Gauge({ name, help, labelNames, registers: [registry] }),
    ),
    /** What GET /metrics returns besides the process metrics. */
    print: () => registry.metrics(),
    list: () => listMetrics(registry),
  };
}

function restMetrics(registry: Registry) {
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by code (<error>: no response), method and host.',
    labelNames: ['code', 'method', 'host'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'How long the API server took to respond; for a watch, until it began.',
    labelNames: ['verb', 'host'],
    buckets: SECONDS,
    registers: [registry],
  });
  return {
    request: (seen: { code: string; method: string; host: string; seconds: number }) => {
      const { code, method, host, seconds } = seen;
      requests.inc({ code, method, host });
      durations.observe({ verb: method, host }, seconds);
    },
  };
}

type CacheSample = { kind: string; at: Date; objects: number };

/** A kind has a cache per namespace, and some exist only while this process leads. */
function cacheMetrics(registry: Registry) {
  const caches = new Map<object, CacheSample>();
  const shape = { labelNames: ['kind'], registers: [registry] };
  const counter = (name: string, help: string) => new Counter({ name, help, ...shape });
  const gauge = (name: string, help: string, value: (all: readonly CacheSample[]) => number) =>
    new Gauge({
      ...{ name, help, ...shape },
      collect() {
        this.reset();
        for (const [kind, all] of Map.groupBy(caches.values(), (seen) => seen.kind)) {
          this.set({ kind }, value(all));
        }
      },
    });
  const relists = counter('tintype_cache_relist_total', 'Lists of all objects of a kind.');
  const reconnects = counter('tintype_cache_watch_reconnect_total', 'Watches that were started.');
  gauge(
    'tintype_cache_last_event_seconds',
    'Unix time of the last message of the watch that has been silent for longest.',
    (all) => Math.min(...all.map(({ at }) => at.getTime())) / 1000,
  );
  gauge('tintype_cache_objects', 'Objects in the caches of a kind.', (all) =>
    all.reduce((sum, { objects }) => sum + objects, 0),
  );
  return {
    relist: (kind: string) => relists.inc({ kind }),
    reconnect: (kind: string) => reconnects.inc({ kind }),
    recordCache: (cache: object, seen: CacheSample) => void caches.set(cache, seen),
    forgetCache: (cache: object) => void caches.delete(cache),
  };
}

/** The state of a queue, read at every scrape. */
export type ReadQueueState = () => { depth: number; running_seconds: readonly number[] };

function queueMetrics(registry: Registry) {
  const shape = { labelNames: ['name', 'controller'], registers: [registry] };
  const labels = (name: string) => ({ name, controller: name });
  const counter = (name: string, help: string) => new Counter({ name, help, ...shape });
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, buckets: SECONDS, ...shape });
  const adds = counter('workqueue_adds_total', 'Keys that were added to the queue.');
  const retries = counter(
    'workqueue_retries_total',
    'Keys that were requeued with a delay after a failure.',
  );
  const waited = histogram(
    'workqueue_queue_duration_seconds',
    'How long keys waited in the queue.',
  );
  const worked = histogram('workqueue_work_duration_seconds', 'How long keys took to process.');
  return {
    queueAdded: (name: string) => adds.inc(labels(name)),
    queueRetried: (name: string) => retries.inc(labels(name)),
    queueWaited: (name: string, seconds: number) => waited.observe(labels(name), seconds),
    queueWorked: (name: string, seconds: number) => worked.observe(labels(name), seconds),
    ...queueGauges(registry),
  };
}

/** Gauges that read the queues at every scrape. */
function queueGauges(registry: Registry) {
  const queues = new Map<string, ReadQueueState>();
  const gauge = (name: string, help: string, value: (seen: ReturnType<ReadQueueState>) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['name', 'controller'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [queue, readState] of queues) {
          this.set({ name: queue, controller: queue }, value(readState()));
        }
      },
    });
  gauge('workqueue_depth', 'Keys in the queue that are due and waiting.', ({ depth }) => depth);
  gauge(
    'workqueue_unfinished_work_seconds',
    'Sum of the time that keys in progress have been processed so far.',
    (seen) => seen.running_seconds.reduce((sum, each) => sum + each, 0),
  );
  const longest = (seen: ReturnType<ReadQueueState>) => Math.max(0, ...seen.running_seconds);
  gauge(
    'workqueue_longest_running_processor_seconds',
    'How long the longest-running key has been processed so far.',
    longest,
  );
  gauge('controller_runtime_active_workers', 'Busy workers of the queue.', (seen) => {
    return seen.running_seconds.length;
  });
  return {
    watchQueue: (name: string, readState: ReadQueueState) => void queues.set(name, readState),
    /** Unless another queue has the name by now. */
    forgetQueue: (name: string, readState: ReadQueueState) => {
      if (queues.get(name) === readState) queues.delete(name);
    },
    /** Over all queues. */
    longestRunningSeconds: () =>
      Math.max(0, ...[...queues.values()].map((readState) => longest(readState()))),
  };
}

export type ReconcileResult = 'success' | 'error' | 'requeue_after';

function reconcileMetrics(registry: Registry) {
  const shape = { labelNames: ['controller'], registers: [registry] };
  const counter = (name: string, help: string) =>
    new Counter({ name: `controller_runtime_${name}`, help, ...shape });
  const total = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Passes over resources by result: success, error or requeue_after.',
    labelNames: ['controller', 'result'],
    registers: [registry],
  });
  const errors = counter('reconcile_errors_total', 'Passes that failed.');
  const panics = counter(
    'reconcile_panics_total',
    'Passes that failed because of a bug in the program.',
  );
  const terminal = counter(
    'terminal_reconcile_errors_total',
    'Resources that were refused for what they declare, once per generation and reason: only a change of the resource helps.',
  );
  const timeouts = counter('reconcile_timeouts_total', 'Passes that were aborted.');
  const seconds = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long a pass took.',
    buckets: SECONDS,
    ...shape,
  });
  const workers = new Gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Number of workers of the controller.',
    ...shape,
  });
  const leader = new Gauge({
    name: 'leader_election_master_status',
    help: '1 while this process is the leader.',
    labelNames: ['name'],
    registers: [registry],
  });
  return {
    reconciled: (seen: { controller: string; result: ReconcileResult; seconds: number }) => {
      const { controller, result } = seen;
      total.inc({ controller, result });
      seconds.observe({ controller }, seen.seconds);
      if (result === 'error') errors.inc({ controller });
    },
    reconcilePanicked: (controller: string) => panics.inc({ controller }),
    reconcileRefused: (controller: string) => terminal.inc({ controller }),
    reconcileTimedOut: (controller: string) => timeouts.inc({ controller }),
    concurrency: (controller: string, count: number) => workers.set({ controller }, count),
    leads: (name: string, status: 0 | 1) => leader.set({ name }, status),
  };
}

const LONG_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400];

/** Metrics of resources, as their owners see them. */
function resourceMetrics(registry: Registry) {
  const histogram = (name: string, help: string) =>
    new Histogram({
      name: `tintype_resource_${name}_seconds`,
      help,
      labelNames: ['kind'],
      buckets: LONG_SECONDS,
      registers: [registry],
    });
  const ready = histogram(
    'time_to_ready',
    'How long a resource was not ready before it became ready; the first time, since it was created.',
  );
  const drift = histogram(
    'drift',
    'When drifted rows of a resource were corrected: the time since they were last seen as declared.',
  );
  const deletion = histogram(
    'deletion',
    'Time from the request to delete a resource until its rows were released.',
  );
  return {
    resourceReady: (kind: string, seconds: number) => ready.observe({ kind }, seconds),
    driftHealed: (kind: string, seconds: number) => drift.observe({ kind }, seconds),
    resourceDeleted: (kind: string, seconds: number) => deletion.observe({ kind }, seconds),
  };
}
