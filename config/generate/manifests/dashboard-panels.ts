/** The panels of the Grafana dashboard: what is drawn, and by which queries. */

import { operatorRows } from './operator-panels.ts';
import { gauge, inNamespace, latency, type Panel, rate } from './panel.ts';

export const dashboardRows: readonly { title: string; panels: readonly Panel[] }[] = [
  {
    title: 'What all of it needs',
    panels: [
      {
        title: 'Dependencies: 1 where all can use it',
        unit: 'short',
        targets: [
          [`min by (dependency) (tintype_dependency_ready{${inNamespace}})`, '{{dependency}}'],
        ],
      },
      {
        title: 'The clock of the database, ahead of ours',
        unit: 's',
        targets: [[gauge('tintype_database_lead_seconds', 'pod'), '{{pod}}']],
      },
      {
        title: 'Database connections',
        unit: 'short',
        targets: [[`sum by (state) (tintype_database_connections{${inNamespace}})`, '{{state}}']],
      },
    ],
  },
  {
    title: 'API',
    panels: [
      {
        title: 'Requests by status',
        unit: 'reqps',
        targets: [[`sum by (status) (${rate('tintype_api_request_seconds_count')})`, '{{status}}']],
      },
      latency('Answers of the API', 'tintype_api_request_seconds'),
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
      latency('Answers of delivery', 'tintype_delivery_request_seconds'),
      {
        title: 'Bytes delivered',
        unit: 'Bps',
        targets: [[`sum(${rate('tintype_delivery_bytes_total')})`, 'bodies']],
      },
      {
        title: 'Deliveries that the disk did not take',
        unit: 'ops',
        targets: [
          [`sum(${rate('tintype_usage_unspooled_total')})`, 'in memory'],
          [`sum(${rate('tintype_usage_lost_total')})`, 'lost'],
        ],
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
      latency('Processing of uploads', 'tintype_ingest_seconds'),
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
        targets: [[`sum by (reason) (${rate('tintype_decoders_killed_total')})`, '{{reason}}']],
      },
      {
        title: 'Messages that wait in a queue',
        unit: 'short',
        targets: [[gauge('tintype_queue_waiting', 'queue'), '{{queue}}']],
      },
      {
        title: 'Messages that workers have in hand',
        unit: 'short',
        targets: [[gauge('tintype_queue_in_hand', 'pod'), '{{pod}}']],
      },
    ],
  },
  {
    title: 'Jobs and CDN',
    panels: [
      {
        title: 'Runs of jobs by result',
        unit: 'ops',
        targets: [
          [`sum by (job, result) (${rate('tintype_job_seconds_count')})`, '{{job}} {{result}}'],
        ],
      },
      {
        title: 'Since a job last succeeded',
        unit: 's',
        targets: [[`time() - ${gauge('tintype_job_last_success_seconds', 'job')}`, '{{job}}']],
      },
      {
        title: 'Failed runs since a job last succeeded',
        unit: 'short',
        targets: [[gauge('tintype_job_failed_in_row', 'job'), '{{job}}']],
      },
      {
        title: 'What jobs did',
        unit: 'ops',
        targets: [[`sum by (job, what) (${rate('tintype_job_done_total')})`, '{{job}}: {{what}}']],
      },
      {
        title: 'Purges of the CDN by result',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_cdn_purges_total')})`, '{{result}}']],
      },
      {
        title: 'Webhooks by result',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_webhook_seconds_count')})`, '{{result}}']],
      },
      {
        title: 'Scans by result',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_scans_total')})`, '{{result}}']],
      },
      {
        title: 'Pictures that wait for the scanner',
        unit: 'short',
        targets: [[gauge('tintype_checks_waiting', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Oldest picture that waits for the scanner',
        unit: 's',
        targets: [[gauge('tintype_checks_waiting_seconds', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'What the last reconciliation found',
        unit: 'short',
        targets: [
          [
            `max by (what) (tintype_job_last_done{${inNamespace}, job="reconciliation"})`,
            '{{what}}',
          ],
        ],
      },
    ],
  },
  ...operatorRows,
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
    ],
  },
];
