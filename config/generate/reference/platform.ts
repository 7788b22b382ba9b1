/** Tables of what an installation offers besides its API: metrics, jobs, plans, reserved words. */
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import { type JobText, jobTexts } from '../../../runtime/core/job-texts.ts';
import { defaultPlans, planProjects } from '../../../runtime/core/plans.ts';
import { RESERVED_PROJECT_SLUGS } from '../../../runtime/core/slug.ts';
import type { Job } from '../../../runtime/jobs/job.ts';
import { jobs } from '../../../runtime/jobs/table.ts';
import type { MetricFacts } from '../../../runtime/platform/list-metrics.ts';
import { metricTable } from '../../../runtime/platform/metric-table.ts';
import { createMetrics } from '../../../runtime/platform/metrics.ts';
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

/** Also of the jobs that run only when called. */
export function printJobCounts(): string {
  const rows = Object.entries<JobText>(jobTexts).flatMap(([name, { does, counts }]) =>
    Object.entries(counts).map(([what, meaning], at) => [
      at === 0 ? `${code(name)} ${does}` : '',
      code(what),
      meaning,
    ]),
  );
  return table(['job', 'count', 'meaning'], rows);
}

export function printPlans(): string {
  const rows = Object.entries(defaultPlans).map(([name, plan]) => [
    code(name),
    plan.credits.toLocaleString('en-US'),
    plan.granted,
    planProjects(defaultPlans, name).toLocaleString('en-US'),
    `${plan.storage_bytes / 1024 ** 3} GiB`,
  ]);
  return table(['plan', 'credits', 'granted', 'projects', 'storage of each project'], rows);
}

export function printReservedSlugs(): string {
  return codes(RESERVED_PROJECT_SLUGS);
}
