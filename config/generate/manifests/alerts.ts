/** The alerts: what is asked of Prometheus, for how long it has to hold, and what a person reads who is woken by it. */

export type Alert = {
  name: string;
  expr: string;
  for: string;
  /** critical: users notice it now; warning: they will, if nobody looks. */
  severity: 'critical' | 'warning';
  summary: string;
  description: string;
};

const share = (part: string, all: string) =>
  `sum by (namespace) (${part}) / sum by (namespace) (${all})`;
const rate = (metric: string, window = '5m') => `rate(${metric}[${window}])`;
const p99 = (metric: string) =>
  `histogram_quantile(0.99, sum by (namespace, le) (rate(${metric}_bucket[5m])))`;

export const alerts: readonly Alert[] = [
  {
    name: 'TintypeApiErrors',
    expr: `${share(rate('tintype_api_request_seconds_count{status=~"5.."}'), rate('tintype_api_request_seconds_count'))} > 0.02`,
    for: '5m',
    severity: 'critical',
    summary: 'The API answers requests with errors of its own.',
    description:
      '{{ $value | humanizePercentage }} of the requests in {{ $labels.namespace }} ended with 5xx.',
  },
  {
    name: 'TintypeApiSlow',
    expr: `${p99('tintype_api_request_seconds')} > 2.5`,
    for: '10m',
    severity: 'warning',
    summary: 'The API is slow.',
    description:
      'One in a hundred requests in {{ $labels.namespace }} takes {{ $value | humanizeDuration }} or longer.',
  },
  {
    name: 'TintypeDeliveryErrors',
    expr: `${share(rate('tintype_delivery_request_seconds_count{status=~"5.."}'), rate('tintype_delivery_request_seconds_count'))} > 0.01`,
    for: '5m',
    severity: 'critical',
    summary: 'Images are not delivered.',
    description:
      '{{ $value | humanizePercentage }} of the deliveries in {{ $labels.namespace }} ended with 5xx.',
  },
  {
    name: 'TintypeDeliverySlow',
    expr: `${p99('tintype_delivery_request_seconds')} > 5`,
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
    summary: 'Uploads wait and are not processed.',
    description:
      'The oldest upload in {{ $labels.namespace }} has waited for {{ $value | humanizeDuration }}.',
  },
  {
    name: 'TintypeUploadsFailing',
    expr: `${share(rate('tintype_ingest_seconds_count{result!="ready"}', '30m'), rate('tintype_ingest_seconds_count', '30m'))} > 0.5`,
    for: '30m',
    severity: 'warning',
    summary: 'Most uploads fail.',
    description:
      '{{ $value | humanizePercentage }} of the uploads in {{ $labels.namespace }} were processed and refused.',
  },
  {
    name: 'TintypeRendersFailing',
    expr: `${share(rate('tintype_render_seconds_count{result!="done"}'), rate('tintype_render_seconds_count'))} > 0.05`,
    for: '10m',
    severity: 'warning',
    summary: 'Images cannot be rendered.',
    description:
      '{{ $value | humanizePercentage }} of the renders in {{ $labels.namespace }} failed.',
  },
  {
    name: 'TintypeDecodersKilled',
    expr: `sum by (namespace, reason) (${rate('tintype_sandbox_children_killed_total', '15m')}) * 900 > 50`,
    for: '15m',
    severity: 'warning',
    summary: 'Decoders are killed again and again.',
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
    summary: 'Work waits for connections to the database.',
    description:
      '{{ $value | humanize }} pieces of work in {{ $labels.pod }} wait for a connection without a break.',
  },
  {
    name: 'TintypeUsageLost',
    expr: 'sum by (namespace) (increase(tintype_usage_lost_total[15m])) > 0',
    for: '0m',
    severity: 'critical',
    summary: 'Deliveries are not metered.',
    description:
      '{{ $value | humanize }} deliveries in {{ $labels.namespace }} could not be noted, and will not be charged.',
  },
  {
    name: 'TintypeJobFailing',
    expr: 'sum by (namespace, job) (increase(tintype_job_seconds_count{result="failed"}[1h])) > 2',
    for: '5m',
    severity: 'warning',
    summary: 'A scheduled job fails.',
    description:
      '{{ $labels.job }} in {{ $labels.namespace }} failed {{ $value | humanize }} times within an hour.',
  },
  {
    name: 'TintypeJobOverdue',
    expr: 'time() - max by (namespace, job) (tintype_job_last_success_seconds{job=~"upload-sweep|purge-queue"}) > 900',
    for: '5m',
    severity: 'warning',
    summary: 'A job that is due every minute has not succeeded for a quarter of an hour.',
    description:
      '{{ $labels.job }} in {{ $labels.namespace }} succeeded {{ $value | humanizeDuration }} ago.',
  },
  {
    name: 'TintypePurgesFailing',
    expr: 'sum by (namespace) (increase(tintype_cdn_purges_total{result="failed"}[15m])) > 0 unless sum by (namespace) (increase(tintype_cdn_purges_total{result="sent"}[15m])) > 0',
    for: '15m',
    severity: 'critical',
    summary: 'The CDN takes no purges: viewers see images that were deleted or replaced.',
    description:
      '{{ $value | humanize }} purges of {{ $labels.namespace }} failed within 15 minutes, and none was sent.',
  },
  {
    name: 'TintypeEventLoopBlocked',
    expr: 'tintype_nodejs_eventloop_lag_p99_seconds > 1',
    for: '10m',
    severity: 'warning',
    summary: 'A process has more to do than its core can.',
    description: '{{ $labels.pod }} answers {{ $value | humanizeDuration }} late.',
  },
  {
    name: 'TintypeOperatorWithoutLeader',
    expr: 'max by (namespace) (leader_election_master_status{name="tintype-operator"}) < 1',
    for: '2m',
    severity: 'critical',
    summary: 'No operator leads: what is declared is not put into effect.',
    description: 'No pod of the operator in {{ $labels.namespace }} holds the Lease.',
  },
  {
    name: 'TintypeOperatorErrors',
    expr: 'sum by (namespace, controller) (rate(controller_runtime_reconcile_errors_total{container="operator"}[10m])) * 600 > 30',
    for: '10m',
    severity: 'warning',
    summary: 'The operator fails to put resources into effect.',
    description:
      'Passes of {{ $labels.controller }} failed {{ $value | humanize }} times within ten minutes.',
  },
  {
    name: 'TintypeOperatorBehind',
    expr: 'max by (namespace, name) (workqueue_depth{container="operator"}) > 100',
    for: '10m',
    severity: 'warning',
    summary: 'The operator cannot keep up.',
    description: '{{ $value | humanize }} resources wait in the queue {{ $labels.name }}.',
  },
  {
    name: 'TintypeOperatorBlind',
    expr: 'time() - min by (namespace, pod, kind) (tintype_cache_last_event_seconds) > 900',
    for: '2m',
    severity: 'critical',
    summary: 'The operator has heard nothing from the API server.',
    description:
      '{{ $labels.pod }} heard of {{ $labels.kind }} {{ $value | humanizeDuration }} ago.',
  },
];

/** TintypeApiErrors: api-errors. */
export function runbookPage(name: string): string {
  return name
    .replace(/^Tintype/, '')
    .replaceAll(/(?<=.)([A-Z])/g, '-$1')
    .toLowerCase();
}
