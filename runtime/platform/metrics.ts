/** The metrics of the table over prom-client, with one function for each thing that is measured. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { listMetrics, type MetricFacts } from './list-metrics.ts';
import { type MetricRow, metricTable, SECONDS } from './metric-table.ts';

export type Metrics = {
  apiRequest(seen: { method: string; route: string; status: number; seconds: number }): void;
  /** `code`: of a refusal. */
  delivery(seen: {
    status: number;
    source: string;
    code?: string | undefined;
    seconds: number;
    bytes: number;
  }): void;
  usageUnspooled(): void;
  usageLost(): void;
  ingest(seen: { result: string; seconds: number }): void;
  render(seen: { format: string; result: string; seconds: number }): void;
  decoderKilled(reason: string): void;
  rateRefused(rate: string): void;
  /** `count` 0 only creates the counter at zero, so that a first event shows as a rise. */
  providerEvent(seen: { provider: string; result: string; count: 0 | 1 }): void;
  jobRun(seen: {
    job: string;
    result: string;
    seconds: number;
    at: Date;
    counts: Readonly<Record<string, number>>;
  }): void;
  purges(counts: { sent: number; failed: number }): void;
  scans(counts: Readonly<Record<string, number>>): void;
  webhook(seen: { result: string; seconds: number }): void;
  /** Sources that are read whenever the metrics are. */
  registerSources(sources: MetricSources): void;
  /** The answer to GET /metrics. */
  print(): Promise<{ content_type: string; text: string }>;
  /** The metrics of the table and those of the process itself. */
  list(): MetricFacts[];
};

type Waiting = { count: number; oldest_seconds: number };
type DoneJob = { job: string; finished_at: Date; counts: Readonly<Record<string, number>> };

export type MetricSources = {
  pool?: () => { total: number; idle: number; waiting: number };
  queues?: () => Promise<readonly { queue: string; waiting: number }[]>;
  uploads?: () => Promise<Waiting>;
  purges?: () => Promise<Waiting>;
  checks?: () => Promise<Waiting>;
  /** Flagged, but not reviewed by anybody. */
  unreviewed?: () => Promise<Waiting>;
  /** Organizations over quota by plan. */
  over_quota?: () => Promise<Readonly<Record<string, number>>>;
  /** The newest successful run of each job, in any process. */
  jobs?: () => Promise<readonly DoneJob[]>;
  /** How often each job failed since its last success, in any process. */
  failed_jobs?: () => Promise<readonly { job: string; failed: number }[]>;
  in_hand?: () => Readonly<Record<string, number>>;
  /** Whether each dependency of this process can be used now. */
  dependencies?: () => Promise<Readonly<Record<string, boolean>>>;
  /** How far the database's clock is ahead of ours, in milliseconds. */
  database_lead_ms?: () => Promise<number>;
  /** The number of uploads in work that no message announced. */
  found_due?: () => number;
};

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'tintype_' });
  const { counter, gauge, histogram } = register(registry);
  const sources: MetricSources = {};
  return {
    apiRequest: ({ method, route, status, seconds }) =>
      histogram('tintype_api_request_seconds').observe({ method, route, status }, seconds),
    delivery: ({ status, source, code, seconds, bytes }) => {
      histogram('tintype_delivery_request_seconds').observe({ status, source }, seconds);
      counter('tintype_delivery_bytes_total').inc(bytes);
      if (code !== undefined) counter('tintype_delivery_refused_total').inc({ code });
    },
    usageUnspooled: () => counter('tintype_usage_unspooled_total').inc(),
    usageLost: () => counter('tintype_usage_lost_total').inc(),
    ingest: ({ result, seconds }) =>
      histogram('tintype_ingest_seconds').observe({ result }, seconds),
    render: ({ format, result, seconds }) =>
      histogram('tintype_render_seconds').observe({ format, result }, seconds),
    decoderKilled: (reason) => counter('tintype_decoders_killed_total').inc({ reason }),
    providerEvent: ({ count, ...labels }) =>
      counter('tintype_provider_events_total').inc(labels, count),
    rateRefused: (rate) => counter('tintype_rate_refused_total').inc({ rate }),
    jobRun: ({ job, result, seconds, at, counts }) => {
      histogram('tintype_job_seconds').observe({ job, result }, seconds);
      for (const [what, count] of Object.entries(counts)) {
        counter('tintype_job_done_total').inc({ job, what }, count);
      }
      if (result !== 'succeeded') return;
      gauge('tintype_job_last_success_seconds').set({ job }, at.getTime() / 1000);
    },
    purges: (counts) => {
      for (const [result, count] of Object.entries(counts)) {
        counter('tintype_cdn_purges_total').inc({ result }, count);
      }
    },
    scans: (counts) => {
      for (const [result, count] of Object.entries(counts)) {
        counter('tintype_scans_total').inc({ result }, count);
      }
    },
    webhook: ({ result, seconds }) =>
      histogram('tintype_webhook_seconds').observe({ result }, seconds),
    registerSources: (more) => Object.assign(sources, more),
    print: async () => {
      await collectAll(sources, gauge);
      return { content_type: registry.contentType, text: await registry.metrics() };
    },
    list: () => listMetrics(registry),
  };
}

/** Unavailable values are left out: an old value would be taken for a new one. */
async function collectAll(sources: MetricSources, gauge: Gauges): Promise<void> {
  collectProcess(sources, gauge);
  await Promise.all([collectBacklog(sources, gauge), collectDependencies(sources, gauge)]);
}

/** What servers answer, and the last results of jobs. */
async function collectDependencies(sources: MetricSources, gauge: Gauges): Promise<void> {
  const { queues, jobs, failed_jobs, dependencies, database_lead_ms } = sources;
  const [depths, done, failed, ready, lead] = await Promise.allSettled([
    queues?.() ?? [],
    jobs?.() ?? [],
    failed_jobs?.() ?? [],
    dependencies?.() ?? {},
    database_lead_ms?.(),
  ]);
  gauge('tintype_queue_waiting').reset();
  for (const { queue, waiting: count } of resultOf(depths) ?? []) {
    gauge('tintype_queue_waiting').set({ queue }, count);
  }
  for (const run of resultOf(done) ?? []) recordJobResult(run, gauge);
  gauge('tintype_job_failed_in_row').reset();
  for (const { job, failed: count } of resultOf(failed) ?? []) {
    gauge('tintype_job_failed_in_row').set({ job }, count);
  }
  const broker = queues === undefined ? {} : { broker: depths.status === 'fulfilled' };
  // A dependency that a process needed during its start may never be checked again.
  gauge('tintype_dependency_ready').reset();
  for (const [dependency, isReady] of Object.entries({ ...resultOf(ready), ...broker })) {
    gauge('tintype_dependency_ready').set({ dependency }, isReady ? 1 : 0);
  }
  const lead_ms = resultOf(lead);
  setOrRemove(gauge('tintype_database_lead_seconds'), lead_ms && lead_ms / 1000);
}

/** Work that waits in the database for a process or a person. */
async function collectBacklog(sources: MetricSources, gauge: Gauges): Promise<void> {
  const [sessions, unsent, scans, flagged, over] = await Promise.allSettled([
    sources.uploads?.(),
    sources.purges?.(),
    sources.checks?.(),
    sources.unreviewed?.(),
    sources.over_quota?.(),
  ]);
  for (const [name, seen] of [
    ['tintype_uploads_waiting', sessions],
    ['tintype_cdn_purges_waiting', unsent],
    ['tintype_checks_waiting', scans],
    ['tintype_checks_unreviewed', flagged],
  ] as const) {
    const waiting = resultOf(seen);
    setOrRemove(gauge(name), waiting?.count);
    setOrRemove(gauge(`${name}_seconds`), waiting?.oldest_seconds);
  }
  gauge('tintype_organizations_over_quota').reset();
  for (const [plan, count] of Object.entries(resultOf(over) ?? {})) {
    gauge('tintype_organizations_over_quota').set({ plan }, count);
  }
}

function collectProcess({ pool, in_hand, found_due }: MetricSources, gauge: Gauges): void {
  for (const [state, count] of Object.entries(pool?.() ?? {})) {
    gauge('tintype_database_connections').set({ state }, count);
  }
  for (const [work, count] of Object.entries(in_hand?.() ?? {})) {
    const more = work === 'ingest' ? (found_due?.() ?? 0) : 0;
    gauge('tintype_queue_in_hand').set({ work }, count + more);
  }
}

/** The result of a run stays true while the database is away. */
function recordJobResult({ job, finished_at, counts }: DoneJob, gauge: Gauges): void {
  gauge('tintype_job_last_success_seconds').set({ job }, finished_at.getTime() / 1000);
  for (const [what, count] of Object.entries(counts)) {
    gauge('tintype_job_last_done').set({ job, what }, count);
  }
}

type Gauges = ReturnType<typeof register>['gauge'];

function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

function resultOf<T>(settled: PromiseSettledResult<T>): T | undefined {
  return settled.status === 'fulfilled' ? settled.value : undefined;
}

type NameOf<Kind extends MetricRow['kind']> = {
  [Name in keyof typeof metricTable]: (typeof metricTable)[Name]['kind'] extends Kind
    ? Name
    : never;
}[keyof typeof metricTable];

/** Creates every metric of the table; a lookup by a name of the wrong kind does not compile. */
function register(registry: Registry) {
  const made = {
    counter: new Map<string, Counter>(),
    gauge: new Map<string, Gauge>(),
    histogram: new Map<string, Histogram>(),
  };
  for (const [name, row] of Object.entries<MetricRow>(metricTable)) {
    const shape = { name, help: row.help, labelNames: [...row.labels], registers: [registry] };
    if (row.kind === 'counter') made.counter.set(name, new Counter(shape));
    else if (row.kind === 'gauge') made.gauge.set(name, new Gauge(shape));
    else made.histogram.set(name, new Histogram({ ...shape, buckets: SECONDS }));
  }
  return {
    counter: (name: NameOf<'counter'>) => found(made.counter, name),
    gauge: (name: NameOf<'gauge'>) => found(made.gauge, name),
    histogram: (name: NameOf<'histogram'>) => found(made.histogram, name),
  };
}

function found<Metric>(metrics: ReadonlyMap<string, Metric>, name: string): Metric {
  const metric = metrics.get(name);
  if (metric === undefined) throw new Error(`no metric is named ${name}`);
  return metric;
}
