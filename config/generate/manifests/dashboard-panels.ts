/** The panels of the Grafana dashboard: what each draws, and by which queries. */

import { deskRows } from './desk-panels.ts';
import { operatorRows } from './operator-panels.ts';
import { WITHOUT_BYTES_IN, WITHOUT_ORIGINALS } from './own-time.ts';
import { gauge, inNamespace, latency, type PanelRow, rate } from './panel.ts';
import { workRows } from './work-panels.ts';

export const dashboardRows: readonly PanelRow[] = [
  {
    title: 'Shared dependencies',
    panels: [
      {
        title: 'Dependencies: 1 if all processes can use it',
        description:
          'PostgreSQL, the two buckets and the broker: 0 while any process cannot use it. Look here first.',
        unit: 'short',
        targets: [
          [`min by (dependency) (tintype_dependency_ready{${inNamespace}})`, '{{dependency}}'],
        ],
      },
      {
        title: 'Failing services',
        description:
          'How many of the five services failed their last check, which runs once a minute; /status of the API names them. A bucket that can be read but not written shows only here.',
        unit: 'short',
        targets: [
          [
            `max by (namespace) (tintype_job_last_done{${inNamespace}, job="status-sampling", what="failed"})`,
            '{{namespace}}',
          ],
        ],
      },
      {
        title: 'Database clock ahead of the pod’s clock',
        description:
          'Below 0, the pod is ahead. Beyond 10 s either way, library sessions and embed URLs end at wrong times, and deliveries around a full hour are counted in the adjacent hour.',
        unit: 's',
        min: 'what is drawn',
        targets: [[gauge('tintype_database_lead_seconds', 'pod'), '{{pod}}']],
      },
      {
        title: 'Database connections',
        description:
          'Open connections, free ones among them, and tasks that wait for a connection.',
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
        description:
          'API requests per second: 5xx are server errors, 4xx caller errors, 499 callers who disconnected.',
        unit: 'reqps',
        targets: [[`sum by (status) (${rate('tintype_api_request_seconds_count')})`, '{{status}}']],
      },
      latency('API latency', {
        metric: 'tintype_api_request_seconds',
        description:
          'How long the API takes to respond: median, p95 and p99, without requests that carry the bytes of an upload.',
        filter: WITHOUT_BYTES_IN,
      }),
      {
        title: 'Refused by rate limit',
        description: 'Requests refused with rate_limited, by the rate that they exceeded.',
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
        description:
          'Where the bytes of delivered images came from; render means that the image had to be rendered first.',
        unit: 'reqps',
        targets: [
          [`sum by (source) (${rate('tintype_delivery_request_seconds_count')})`, '{{source}}'],
        ],
      },
      {
        title: 'Deliveries by status',
        description:
          'Responses of the delivery hosts per second: 5xx are server errors; 403 and 404 are refusals that viewers see.',
        unit: 'reqps',
        targets: [
          [`sum by (status) (${rate('tintype_delivery_request_seconds_count')})`, '{{status}}'],
        ],
      },
      {
        title: 'Refused deliveries',
        description:
          'Refusals of the delivery hosts per second, by error code; invalid_signature and unknown_kid are forged or outdated signed URLs.',
        unit: 'reqps',
        targets: [[`sum by (code) (${rate('tintype_delivery_refused_total')})`, '{{code}}']],
      },
      latency('Delivery latency', {
        metric: 'tintype_delivery_request_seconds',
        description:
          'How long viewers wait for an image; images that must be rendered first take longer. Without originals, whose time depends on the viewer’s connection.',
        filter: WITHOUT_ORIGINALS,
      }),
      {
        title: 'Bytes delivered',
        description: 'Bytes of bodies sent to viewers and CDNs, per second.',
        unit: 'Bps',
        targets: [[`sum(${rate('tintype_delivery_bytes_total')})`, 'bodies']],
      },
      {
        title: 'Deliveries not written to disk',
        description: 'In memory: charged unless the process dies. Lost: never charged.',
        unit: 'ops',
        targets: [
          [`sum(${rate('tintype_usage_unspooled_total')})`, 'in memory'],
          [`sum(${rate('tintype_usage_lost_total')})`, 'lost'],
        ],
      },
    ],
  },
  ...workRows,
  ...deskRows,
  ...operatorRows,
  {
    title: 'Processes',
    panels: [
      {
        title: 'CPU',
        description: 'Cores that each pod uses; 1 is one full core.',
        unit: 'percentunit',
        targets: [[`sum by (pod) (${rate('tintype_process_cpu_seconds_total')})`, '{{pod}}']],
      },
      {
        title: 'Memory',
        description: 'Resident memory of each process, without its decoders.',
        unit: 'bytes',
        targets: [[gauge('tintype_process_resident_memory_bytes', 'pod'), '{{pod}}']],
      },
      {
        title: 'Event loop, p99',
        description:
          'How late the event loop of each process runs: more than a second means too much work for its core.',
        unit: 's',
        targets: [[gauge('tintype_nodejs_eventloop_lag_p99_seconds', 'pod'), '{{pod}}']],
      },
      {
        title: 'Starts within 15 minutes',
        description:
          'How often each process restarted in its pod: twice or more means that it dies repeatedly.',
        unit: 'short',
        targets: [
          [
            `max by (pod) (changes(tintype_process_start_time_seconds{${inNamespace}}[15m]))`,
            '{{pod}}',
          ],
        ],
      },
    ],
  },
];
