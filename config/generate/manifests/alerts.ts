/** The alerts: the Prometheus expression, how long it must hold, and the text for the person on call. */
import type { Alert } from './alert.ts';
import { deskAlerts } from './desk-alerts.ts';
import { operatorAlerts } from './operator-alerts.ts';
import { WITHOUT_BYTES_IN, WITHOUT_ORIGINALS } from './own-time.ts';

const rate = (metric: string, window: string) => `rate(${metric}[${window}])`;
const p99 = (metric: string, filter: string) =>
  `histogram_quantile(0.99, sum by (namespace, le) (${rate(`${metric}_bucket{${filter}}`, '5m')}))`;

type Failing = { metric: string; failed: string; window?: string };
/** More than `share` of the requests fail, and more than `count`, within the window. */
const above = ({ metric, failed, window = '5m' }: Failing, share: number, count: number) =>
  `sum by (namespace) (${rate(`${metric}{${failed}}`, window)}) / sum by (namespace) (${rate(metric, window)}) > ${share} and sum by (namespace) (increase(${metric}{${failed}}[${window}])) > ${count}`;

/** With little traffic, one image is a large share: most must fail, as in an outage. */
const mostFailing = (of: Failing) => above(of, 0.5, 2);
const failing = (of: Failing, share: number) => `${above(of, share, 10)} or ${mostFailing(of)}`;

const uploads = {
  metric: 'tintype_ingest_seconds_count',
  failed: 'result!="ready"',
  window: '30m',
};

const overdue = (jobs: string, seconds: number) =>
  `time() - max by (namespace, job) (tintype_job_last_success_seconds{job=~"${jobs}"}) > ${seconds}`;

export const alerts: readonly Alert[] = [
  {
    name: 'TintypeDependencyAway',
    expr: 'min by (namespace, dependency) (tintype_dependency_ready) < 1',
    for: '2m',
    severity: 'critical',
    summary: 'PostgreSQL, a bucket or the broker is away.',
    description:
      'A process in {{ $labels.namespace }} has not been able to use this dependency for two minutes: {{ $labels.dependency }}.',
  },
  {
    name: 'TintypeServiceFailing',
    expr: 'max by (namespace) (tintype_job_last_done{job="status-sampling", what="failed"}) > 0',
    for: '3m',
    severity: 'critical',
    summary: 'A service fails its check, which runs once a minute.',
    description:
      '{{ $value | humanize }} of five services fail; /status of the API in {{ $labels.namespace }} names them.',
  },
  {
    name: 'TintypeApiErrors',
    expr: failing({ metric: 'tintype_api_request_seconds_count', failed: 'status=~"5.."' }, 0.02),
    for: '5m',
    severity: 'critical',
    summary: 'The API answers requests with server errors.',
    description:
      '{{ $value | humanizePercentage }} of the requests in {{ $labels.namespace }} ended with 5xx.',
  },
  {
    name: 'TintypeApiSlow',
    expr: `${p99('tintype_api_request_seconds', WITHOUT_BYTES_IN)} > 2.5`,
    for: '10m',
    severity: 'warning',
    summary: 'The API is slow.',
    description:
      'One in a hundred requests in {{ $labels.namespace }} takes {{ $value | humanizeDuration }} or longer.',
  },
  {
    name: 'TintypeDeliveryErrors',
    expr: failing(
      { metric: 'tintype_delivery_request_seconds_count', failed: 'status=~"5.."' },
      0.01,
    ),
    for: '5m',
    severity: 'critical',
    summary: 'Images are not delivered.',
    description:
      '{{ $value | humanizePercentage }} of the deliveries in {{ $labels.namespace }} ended with 5xx.',
  },
  {
    name: 'TintypeDeliverySlow',
    expr: `${p99('tintype_delivery_request_seconds', WITHOUT_ORIGINALS)} > 5`,
    for: '10m',
    severity: 'warning',
    summary: 'Images are delivered slowly.',
    description:
      'One in a hundred deliveries in {{ $labels.namespace }} takes {{ $value | humanizeDuration }} or longer.',
  },
  {
    name: 'TintypeUploadsWaiting',
    expr: 'max by (namespace) (tintype_uploads_waiting_seconds) > 300',
    for: '5m',
    severity: 'critical',
    summary: 'Uploads are waiting and not processed.',
    description:
      'The oldest upload in {{ $labels.namespace }} has waited for {{ $value | humanizeDuration }}.',
  },
  {
    name: 'TintypeUploadsFailing',
    expr: mostFailing(uploads),
    for: '30m',
    severity: 'warning',
    summary: 'Most uploads fail.',
    description:
      '{{ $value | humanizePercentage }} of the uploads in {{ $labels.namespace }} were processed and refused.',
  },
  {
    name: 'TintypeRendersFailing',
    expr: failing({ metric: 'tintype_render_seconds_count', failed: 'result!="done"' }, 0.05),
    for: '10m',
    severity: 'warning',
    summary: 'Images cannot be rendered.',
    description:
      '{{ $value | humanizePercentage }} of the renders in {{ $labels.namespace }} failed.',
  },
  {
    name: 'TintypeDecodersKilled',
    expr: `sum by (namespace, reason) (${rate('tintype_decoders_killed_total', '15m')}) * 900 > 50`,
    for: '15m',
    severity: 'warning',
    summary: 'Decoders are killed repeatedly.',
    description:
      '{{ $value | humanize }} decoders in {{ $labels.namespace }} were killed within 15 minutes: {{ $labels.reason }}.',
  },
  {
    name: 'TintypeQueueDeep',
    expr: 'max by (namespace, queue) (tintype_queue_waiting) > 1000',
    for: '15m',
    severity: 'warning',
    summary: 'Work is queued faster than it is done.',
    description:
      '{{ $value | humanize }} messages wait in {{ $labels.queue }} of {{ $labels.namespace }}.',
  },
  {
    name: 'TintypeDatabasePoolExhausted',
    expr: 'min_over_time(tintype_database_connections{state="waiting"}[5m]) > 0',
    for: '5m',
    severity: 'critical',
    summary: 'Tasks wait for connections to the database.',
    description:
      'In {{ $labels.pod }}, {{ $value | humanize }} tasks are continuously waiting for a connection.',
  },
  {
    name: 'TintypeSpoolFailing',
    expr: 'sum by (namespace, pod) (increase(tintype_usage_unspooled_total[15m])) > 0',
    for: '0m',
    severity: 'critical',
    summary: 'A delivery server cannot record what it delivers.',
    description:
      '{{ $value | humanize }} deliveries of {{ $labels.pod }} were kept only in memory: they are lost if the process dies, or if memory runs out.',
  },
  {
    name: 'TintypeUsageLost',
    expr: 'sum by (namespace) (increase(tintype_usage_lost_total[15m])) > 0',
    for: '0m',
    severity: 'critical',
    summary: 'Deliveries are not metered.',
    description:
      '{{ $value | humanize }} deliveries in {{ $labels.namespace }} could not be recorded and will not be charged.',
  },
  {
    name: 'TintypeJobFailing',
    // A CronJob's pod is gone before Prometheus scrapes it.
    expr: [
      'sum by (namespace, job) (increase(tintype_job_seconds_count{result="failed"}[1h])) > 2',
      'max by (namespace, job) (tintype_job_failed_in_row) > 2',
    ].join(' or '),
    for: '5m',
    severity: 'warning',
    summary: 'A scheduled job fails.',
    description:
      '{{ $labels.job }} in {{ $labels.namespace }} failed {{ $value | humanize }} times within an hour or since it last succeeded.',
  },
  {
    name: 'TintypeJobOverdue',
    expr: [
      overdue('upload-sweep|purge-queue|webhook-delivery|status-sampling', 900),
      overdue('hourly-rollup|content-sweep', 3 * 3600),
      overdue('daily-charge|reconciliation|retention|signing-key-retirement', 26 * 3600),
    ].join(' or '),
    for: '5m',
    severity: 'warning',
    summary: 'A scheduled job has not succeeded for longer than its schedule allows.',
    description:
      '{{ $labels.job }} in {{ $labels.namespace }} has not succeeded for {{ $value | humanizeDuration }}.',
  },
  {
    name: 'TintypeJobsUnattended',
    expr: 'count by (namespace) (tintype_dependency_ready{dependency="broker"}) unless count by (namespace) (tintype_job_last_success_seconds)',
    for: '10m',
    severity: 'critical',
    summary: 'No dispatcher reports on its jobs.',
    description:
      'Processes run in {{ $labels.namespace }}, but no dispatcher: webhooks and purges are not sent, and no other alert on jobs can fire.',
  },
  {
    name: 'TintypeMeteringDiffers',
    expr: 'max by (namespace, what) (tintype_job_last_done{job="reconciliation", what=~"differing|missing_batches"}) > 0',
    for: '0m',
    severity: 'warning',
    summary: 'Deliveries, usage sums and charges do not match.',
    description:
      'The last reconciliation of {{ $labels.namespace }} found {{ $labels.what }}: {{ $value | humanize }}.',
  },
  {
    name: 'TintypeScansPutOff',
    expr: 'max by (namespace) (tintype_checks_waiting_seconds) > 900',
    for: '5m',
    severity: 'warning',
    summary: 'New images are not scanned.',
    description:
      'An image in {{ $labels.namespace }} has been waiting for the scanner for {{ $value | humanizeDuration }}.',
  },
  {
    name: 'TintypePurgesFailing',
    expr: 'max by (namespace) (tintype_cdn_purges_waiting_seconds) > 600',
    for: '5m',
    severity: 'critical',
    summary: 'CDN purges are waiting: viewers see images that were deleted, blocked or replaced.',
    description:
      'A change in {{ $labels.namespace }} is {{ $value | humanizeDuration }} old, and the CDN has not accepted its purge.',
  },
  {
    name: 'TintypeRestarting',
    expr: 'changes(tintype_process_start_time_seconds[15m]) > 1',
    for: '0m',
    severity: 'warning',
    summary: 'A process repeatedly dies and restarts.',
    description: '{{ $labels.pod }} restarted {{ $value | humanize }} times within 15 minutes.',
  },
  {
    name: 'TintypeClockWrong',
    expr: 'abs(tintype_database_lead_seconds) > 10',
    for: '5m',
    severity: 'warning',
    summary: 'The clocks of a process and of the database differ.',
    description:
      'The clocks of the database and of {{ $labels.pod }} differ by {{ $value | humanizeDuration }}.',
  },
  {
    name: 'TintypeEventLoopBlocked',
    expr: 'tintype_nodejs_eventloop_lag_p99_seconds > 1',
    for: '10m',
    severity: 'warning',
    summary: 'A process has more work than its core can handle.',
    description: '{{ $labels.pod }} responds {{ $value | humanizeDuration }} late.',
  },
  ...deskAlerts,
  ...operatorAlerts,
];
