/**
 * Every metric in one table over prom-client, and one function for each thing that is measured.
 * Labels have few values: never a project, a slug or an id.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

type MetricRow = {
  kind: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
  buckets?: readonly number[];
};

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];

/** The metrics by their full names. */
export const metricTable = {
  tintype_api_request_seconds: {
    kind: 'histogram',
    help: 'API requests by route and status.',
    labels: ['method', 'route', 'status'],
    buckets: SECONDS,
  },
  tintype_delivery_request_seconds: {
    kind: 'histogram',
    help: 'Delivery requests by status and where the bytes came from.',
    labels: ['status', 'source'],
    buckets: SECONDS,
  },
  tintype_delivery_bytes_total: {
    kind: 'counter',
    help: 'Bytes of bodies handed to delivery clients.',
    labels: [],
  },
  tintype_usage_lost_total: {
    kind: 'counter',
    help: 'Deliveries whose usage could not be spooled.',
    labels: [],
  },
  tintype_ingest_seconds: {
    kind: 'histogram',
    help: 'Processed uploads by result: ready, or the error code.',
    labels: ['result'],
    buckets: SECONDS,
  },
  tintype_render_seconds: {
    kind: 'histogram',
    help: 'Renders by output format and result.',
    labels: ['format', 'result'],
    buckets: SECONDS,
  },
  tintype_sandbox_children_killed_total: {
    kind: 'counter',
    help: 'Decoder processes that were killed, by reason.',
    labels: ['reason'],
  },
  tintype_queue_waiting: {
    kind: 'gauge',
    help: 'Messages and calls that nobody has taken yet: on the broker, which every process sees alike.',
    labels: ['queue'],
  },
  tintype_uploads_waiting: {
    kind: 'gauge',
    help: 'Uploads that wait to be processed, counted to 10,000. Of the dispatcher.',
    labels: [],
  },
  tintype_uploads_waiting_seconds: {
    kind: 'gauge',
    help: 'How long the oldest of them has waited; 0 where none does. Of the dispatcher.',
    labels: [],
  },
  tintype_database_connections: {
    kind: 'gauge',
    help: 'The pool of connections by state: total (open), idle (of those, free), waiting (work that waits for one).',
    labels: ['state'],
  },
  tintype_rate_refused_total: {
    kind: 'counter',
    help: 'What was refused with rate_limited, by rate: failed-authentication, write, signed-url or signing-key.',
    labels: ['rate'],
  },
  tintype_job_seconds: {
    kind: 'histogram',
    help: 'Runs of scheduled jobs by result: succeeded, failed or skipped.',
    labels: ['job', 'result'],
    buckets: SECONDS,
  },
  tintype_job_done_total: {
    kind: 'counter',
    help: 'What scheduled jobs did: objects deleted by kind, uploads completed, purges sent and the like.',
    labels: ['job', 'what'],
  },
  tintype_cdn_purges_total: {
    kind: 'counter',
    help: 'Purges that were due, by what the CDN did: sent (it took them), or failed (they are tried again).',
    labels: ['result'],
  },
  tintype_job_last_success_seconds: {
    kind: 'gauge',
    help: 'Unix time of the last run that succeeded.',
    labels: ['job'],
  },
} as const satisfies Record<`tintype_${string}`, MetricRow>;

export type Metrics = {
  apiRequest(seen: { method: string; route: string; status: number; seconds: number }): void;
  delivery(seen: { status: number; source: string; seconds: number; bytes: number }): void;
  usageLost(): void;
  ingest(seen: { result: string; seconds: number }): void;
  render(seen: { format: string; result: string; seconds: number }): void;
  childKilled(reason: string): void;
  rateRefused(rate: string): void;
  jobRun(seen: {
    job: string;
    result: string;
    seconds: number;
    at: Date;
    counts: Readonly<Record<string, number>>;
  }): void;
  purges(counts: { sent: number; failed: number }): void;
  /** What is looked at whenever the metrics are read. */
  watch(sources: MetricSources): void;
  /** What GET /metrics answers. */
  print(): Promise<{ content_type: string; text: string }>;
  /** Those of the table and those of the process itself. */
  list(): { name: string; kind: string; help: string; labels: readonly string[] }[];
};

export type MetricSources = {
  pool?: () => { total: number; idle: number; waiting: number };
  queues?: () => Promise<readonly { queue: string; waiting: number }[]>;
  uploads?: () => Promise<{ count: number; oldest_seconds: number }>;
};

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'tintype_' });
  const { counter, gauge, histogram } = register(registry);
  const sources: MetricSources = {};
  return {
    apiRequest: ({ method, route, status, seconds }) =>
      histogram('tintype_api_request_seconds').observe({ method, route, status }, seconds),
    delivery: ({ status, source, seconds, bytes }) => {
      histogram('tintype_delivery_request_seconds').observe({ status, source }, seconds);
      counter('tintype_delivery_bytes_total').inc(bytes);
    },
    usageLost: () => counter('tintype_usage_lost_total').inc(),
    ingest: ({ result, seconds }) =>
      histogram('tintype_ingest_seconds').observe({ result }, seconds),
    render: ({ format, result, seconds }) =>
      histogram('tintype_render_seconds').observe({ format, result }, seconds),
    childKilled: (reason) => counter('tintype_sandbox_children_killed_total').inc({ reason }),
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
    watch: (more) => Object.assign(sources, more),
    print: async () => {
      await look(sources, gauge);
      return { content_type: registry.contentType, text: await registry.metrics() };
    },
    list: () => registry.getMetricsAsArray().map(describe),
  };
}

/** What cannot be had is left out: an old value would be taken for a new one. */
async function look(
  { pool, queues, uploads }: MetricSources,
  gauge: ReturnType<typeof register>['gauge'],
): Promise<void> {
  for (const [state, count] of Object.entries(pool?.() ?? {})) {
    gauge('tintype_database_connections').set({ state }, count);
  }
  const [depths, waiting] = await Promise.allSettled([queues?.() ?? [], uploads?.()]);
  gauge('tintype_queue_waiting').reset();
  for (const { queue, waiting: count } of resultOf(depths) ?? []) {
    gauge('tintype_queue_waiting').set({ queue }, count);
  }
  const { count, oldest_seconds } = resultOf(waiting) ?? {};
  setOrRemove(gauge('tintype_uploads_waiting'), count);
  setOrRemove(gauge('tintype_uploads_waiting_seconds'), oldest_seconds);
}

function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

function resultOf<T>(settled: PromiseSettledResult<T>): T | undefined {
  return settled.status === 'fulfilled' ? settled.value : undefined;
}

/** prom-client keeps the facts of a metric on it and does not type them. */
function describe(metric: object) {
  const {
    name,
    help,
    labelNames = [],
  } = metric as {
    name: string;
    help: string;
    labelNames?: string[];
  };
  return { name, kind: metric.constructor.name.toLowerCase(), help, labels: labelNames };
}

type NameOf<Kind extends MetricRow['kind']> = {
  [Name in keyof typeof metricTable]: (typeof metricTable)[Name]['kind'] extends Kind
    ? Name
    : never;
}[keyof typeof metricTable];

/** Makes every metric of the table; a look-up by a name of the wrong kind does not compile. */
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
    else
      made.histogram.set(name, new Histogram({ ...shape, buckets: [...(row.buckets ?? SECONDS)] }));
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
