/** Queries of Prometheus, read by Prometheus' own grammar and held against what the processes measure. */
import { parser } from '@prometheus-io/lezer-promql';
import { expect } from 'vitest';
import { createKubeMetrics } from '../../operator/kube/metrics.ts';
import { createMetrics } from '../../runtime/platform/metrics.ts';

type Measured = Map<string, { kind: string; labels: readonly string[] }>;

/** What Prometheus itself puts on whatever it collects from a pod. */
export const POD_LABELS = ['namespace', 'pod', 'container', 'le'];

/** Every metric of the processes and of the operator, with its labels. */
const measured: Measured = new Map(
  [...createMetrics().list(), ...createKubeMetrics().list()].map(({ name, ...rest }) => [
    name,
    rest,
  ]),
);

/** Every node of one name in a query, as it is written. */
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

/** The metric that a series belongs to: those of a histogram have words at their ends. */
export function findMetric(series: string) {
  const plain = measured.get(series);
  if (plain !== undefined) return plain;
  const metric = measured.get(series.replace(/_(bucket|count|sum)$/, ''));
  return metric?.kind === 'histogram' ? metric : undefined;
}

// Grafana's own words for a duration and a choice are none of PromQL.
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

/** The labels that a query groups by have to be those of a series in it. */
export function expectGrouped(query: string): void {
  const labels = nodes(query, 'VectorSelector').flatMap((selector) => [
    ...(findMetric(nodes(selector, 'Identifier')[0] ?? '')?.labels ?? []),
  ]);
  for (const grouping of nodes(query, 'GroupingLabels')) {
    const asked = nodes(`sum by ${grouping} (a)`, 'LabelName');
    expect([...labels, ...POD_LABELS], query).toEqual(expect.arrayContaining(asked));
  }
}
