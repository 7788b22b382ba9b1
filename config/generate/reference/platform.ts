/** Tables of what an installation offers besides its API: metrics, jobs, plans, reserved words. */
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import { defaultPlans } from '../../../runtime/core/plans.ts';
import { RESERVED_PROJECT_SLUGS } from '../../../runtime/core/slug.ts';
import type { Job } from '../../../runtime/jobs/job.ts';
import { jobs } from '../../../runtime/jobs/table.ts';
import { metricTable } from '../../../runtime/platform/metric-table.ts';
import { createMetrics, type MetricFacts } from '../../../runtime/platform/metrics.ts';
import { code, codes, table } from './markdown.ts';

export function printMetrics(): string {
  return printList(createMetrics().list().filter(isOwn));
}

/** The metrics that prom-client creates for every process. */
export function printProcessMetrics(): string {
  return printList(
    createMetrics()
      .list()
      .filter((metric) => !isOwn(metric)),
  );
}

export function printOperatorMetrics(): string {
  return printList(createKubeMetrics().list());
}

const isOwn = ({ name }: MetricFacts) => name in metricTable;

function printList(metrics: readonly MetricFacts[]): string {
  const rows = metrics.map(({ name, kind, labels, help }) => [
    code(name),
    kind,
    codes(labels),
    help,
  ]);
  return table(['metric', 'kind', 'labels', 'meaning'], rows);
}

export function printJobs(): string {
  const rows = Object.entries<Job>(jobs).map(([name, { schedule, missed_means }]) => [
    code(name),
    code(schedule),
    missed_means,
  ]);
  return table(['job', 'schedule (UTC)', 'a missed run means'], rows);
}

export function printPlans(): string {
  const rows = Object.entries(defaultPlans).map(([name, { credits, granted, storage_bytes }]) => [
    code(name),
    credits.toLocaleString('en-US'),
    granted,
    `${storage_bytes / 1024 ** 3} GiB`,
  ]);
  return table(['plan', 'credits', 'granted', 'storage of each project'], rows);
}

export function printReservedSlugs(): string {
  return codes(RESERVED_PROJECT_SLUGS);
}
