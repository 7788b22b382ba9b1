/** The panels of the Grafana dashboard: what is drawn, and by which queries. */

type Unit = 's' | 'reqps' | 'ops' | 'Bps' | 'short' | 'percentunit' | 'bytes';
export type Panel = {
  title: string;
  unit: Unit;
  targets: readonly (readonly [expr: string, legend: string])[];
};

const inNamespace = 'namespace=~"$namespace"';
const rate = (metric: string, filter = '') =>
  `rate(${metric}{${[inNamespace, filter].filter((each) => each !== '').join(', ')}}[$__rate_interval])`;
const quantile = (q: number, metric: string) =>
  `histogram_quantile(${q}, sum by (le) (${rate(`${metric}_bucket`)}))`;
const latency = (title: string, metric: string): Panel => ({
  title,
  unit: 's',
  targets: [
    [quantile(0.5, metric), 'p50'],
    [quantile(0.95, metric), 'p95'],
    [quantile(0.99, metric), 'p99'],
  ],
});
const gauge = (metric: string, by: string) => `max by (${by}) (${metric}{${inNamespace}})`;

export const dashboardRows: readonly { title: string; panels: readonly Panel[] }[] = [
  {
    title: 'API',
    panels: [
      {
        title: 'Requests by status',
        unit: 'reqps',
        targets: [[`sum by (status) (${rate('tintype_api_request_seconds_count')})`, '{{status}}']],
      },
      latency('Duration', 'tintype_api_request_seconds'),
      {
        title: 'Refused by rate',
        unit: 'ops',
        targets: [[`sum by (rate) (${rate('tintype_rate_refused_total')})`, '{{rate}}']],
      },
    ],
  },
  {
    title: 'Delivery',
    panels: [
      {
        title: 'Deliveries by source',
        unit: 'reqps',
        targets: [
          [`sum by (source) (${rate('tintype_delivery_request_seconds_count')})`, '{{source}}'],
        ],
      },
      {
        title: 'Deliveries by status',
        unit: 'reqps',
        targets: [
          [`sum by (status) (${rate('tintype_delivery_request_seconds_count')})`, '{{status}}'],
        ],
      },
      latency('Duration', 'tintype_delivery_request_seconds'),
      {
        title: 'Bytes',
        unit: 'Bps',
        targets: [[`sum(${rate('tintype_delivery_bytes_total')})`, 'bodies']],
      },
      {
        title: 'Unmetered deliveries',
        unit: 'ops',
        targets: [[`sum(${rate('tintype_usage_lost_total')})`, 'lost']],
      },
    ],
  },
  {
    title: 'Workers',
    panels: [
      {
        title: 'Uploads by result',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_ingest_seconds_count')})`, '{{result}}']],
      },
      latency('Processing', 'tintype_ingest_seconds'),
      {
        title: 'Waiting uploads',
        unit: 'short',
        targets: [[gauge('tintype_uploads_waiting', 'namespace'), 'uploads']],
      },
      {
        title: 'The oldest waiting upload',
        unit: 's',
        targets: [[gauge('tintype_uploads_waiting_seconds', 'namespace'), 'waits for']],
      },
      {
        title: 'Renders by result',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_render_seconds_count')})`, '{{result}}']],
      },
      latency('Rendering', 'tintype_render_seconds'),
      {
        title: 'Killed decoders',
        unit: 'ops',
        targets: [
          [`sum by (reason) (${rate('tintype_sandbox_children_killed_total')})`, '{{reason}}'],
        ],
      },
      {
        title: 'Queues',
        unit: 'short',
        targets: [[gauge('tintype_queue_waiting', 'queue'), '{{queue}}']],
      },
    ],
  },
  {
    title: 'Jobs and CDN',
    panels: [
      {
        title: 'Runs by result',
        unit: 'ops',
        targets: [
          [`sum by (job, result) (${rate('tintype_job_seconds_count')})`, '{{job}} {{result}}'],
        ],
      },
      {
        title: 'Since the last success',
        unit: 's',
        targets: [[`time() - ${gauge('tintype_job_last_success_seconds', 'job')}`, '{{job}}']],
      },
      {
        title: 'What jobs did',
        unit: 'ops',
        targets: [[`sum by (job, what) (${rate('tintype_job_done_total')})`, '{{job}}: {{what}}']],
      },
      {
        title: 'Purges',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_cdn_purges_total')})`, '{{result}}']],
      },
    ],
  },
  {
    title: 'Operator',
    panels: [
      {
        title: 'Passes by result',
        unit: 'ops',
        targets: [
          [
            `sum by (controller, result) (${rate('controller_runtime_reconcile_total', 'container="operator"')})`,
            '{{controller}} {{result}}',
          ],
        ],
      },
      {
        title: 'Passes, p99',
        unit: 's',
        targets: [
          [
            `histogram_quantile(0.99, sum by (controller, le) (${rate('controller_runtime_reconcile_time_seconds_bucket', 'container="operator"')}))`,
            '{{controller}}',
          ],
        ],
      },
      { title: 'Queue', unit: 'short', targets: [[gauge('workqueue_depth', 'name'), '{{name}}']] },
      {
        title: 'Leader',
        unit: 'short',
        targets: [[gauge('leader_election_master_status', 'pod'), '{{pod}}']],
      },
      {
        title: 'Requests to the API server',
        unit: 'reqps',
        targets: [
          [
            `sum by (code, method) (${rate('rest_client_requests_total', 'container="operator"')})`,
            '{{method}} {{code}}',
          ],
        ],
      },
    ],
  },
  {
    title: 'Processes',
    panels: [
      {
        title: 'CPU',
        unit: 'percentunit',
        targets: [[`sum by (pod) (${rate('tintype_process_cpu_seconds_total')})`, '{{pod}}']],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        targets: [[gauge('tintype_process_resident_memory_bytes', 'pod'), '{{pod}}']],
      },
      {
        title: 'Event loop, p99',
        unit: 's',
        targets: [[gauge('tintype_nodejs_eventloop_lag_p99_seconds', 'pod'), '{{pod}}']],
      },
      {
        title: 'Database connections',
        unit: 'short',
        targets: [[`sum by (state) (tintype_database_connections{${inNamespace}})`, '{{state}}']],
      },
    ],
  },
];
