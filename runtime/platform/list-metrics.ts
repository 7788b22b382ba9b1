/** The facts of every metric of a registry, for the documentation. */
import type { Registry } from 'prom-client';

export type MetricFacts = { name: string; kind: string; help: string; labels: readonly string[] };

export function listMetrics(registry: Registry): MetricFacts[] {
  return registry.getMetricsAsArray().map(describe);
}

/** prom-client stores these facts on a metric, but does not type them. */
function describe(metric: object): MetricFacts {
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
