/** Parses Prometheus queries with Prometheus' own grammar, and compares them with the metrics of the processes. */
import { parser } from '@prometheus-io/lezer-promql';
import { expect } from 'vitest';
import { createKubeMetrics } from '../../operator/kube/metrics.ts';
import { createMetrics } from '../../runtime/platform/metrics.ts';

type Measured = Map<string, { kind: string; labels: readonly string[] }>;

/** Labels that Prometheus adds to everything it scrapes from a pod, and `le` of histograms. */
export const POD_LABELS = ['namespace', 'pod', 'container', 'le'];

/** Every metric of the processes and of the operator, with its labels. */
const measured: Measured = new Map(
  [...createMetrics().list(), ...createKubeMetrics().list()].map(({ name, ...rest }) => [
    name,
    rest,
  ]),
);

/** Returns the source text of all nodes of this type in a query. */
export function nodes(query: string, name: string): string[] {
  const found: string[] = [];
  parser.parse(query).iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`not PromQL at ${node.from}: ${query}`);
      if (node.name === name) found.push(query.slice(node.from, node.to));
    },
  });
  return found;
}

/** Finds the metric of a series. Those of a histogram have a suffix. */
export function findMetric(series: string) {
  const plain = measured.get(series);
  if (plain !== undefined) return plain;
  const metric = measured.get(series.replace(/_(bucket|count|sum)$/, ''));
  return metric?.kind === 'histogram' ? metric : undefined;
}

// Replaces Grafana's variable for an interval, which is not PromQL.
export const plain = (query: string) => query.replaceAll('$__rate_interval', '5m');

export function expectMeasured(query: string): void {
  for (const selector of nodes(query, 'VectorSelector')) {
    const [series = ''] = nodes(selector, 'Identifier');
    const metric = findMetric(series);
    expect(metric, `${series} is measured`).toBeDefined();
    const asked = nodes(selector, 'LabelName');
    expect([...(metric?.labels ?? []), ...POD_LABELS], query).toEqual(
      expect.arrayContaining(asked),
    );
  }
}

/** Expects the query to group only by labels that one of its series has. */
export function expectGrouped(query: string): void {
  const labels = nodes(query, 'VectorSelector').flatMap((selector) => [
    ...(findMetric(nodes(selector, 'Identifier')[0] ?? '')?.labels ?? []),
  ]);
  for (const grouping of nodes(query, 'GroupingLabels')) {
    const asked = nodes(`sum by ${grouping} (a)`, 'LabelName');
    expect([...labels, ...POD_LABELS], query).toEqual(expect.arrayContaining(asked));
  }
}
