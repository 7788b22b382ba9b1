/** The panels of the Grafana dashboard: what is drawn, and by which queries. */

import { deskRows } from './desk-panels.ts';
import { operatorRows } from './operator-panels.ts';
import { WITHOUT_BYTES_IN, WITHOUT_ORIGINALS } from './own-time.ts';
import { gauge, inNamespace, latency, type PanelRow, rate } from './panel.ts';
import { workRows } from './work-panels.ts';

export const dashboardRows: readonly PanelRow[] = [
  {
    title: 'What all of it needs',
    panels: [
      {
        title: 'Dependencies: 1 where all can use it',
        description:
          'PostgreSQL, the two buckets and the broker: 0 while any process cannot use one. Look here first.',
        unit: 'short',
        targets: [
          [`min by (dependency) (tintype_dependency_ready{${inNamespace}})`, '{{dependency}}'],
        ],
      },
      {
        title: 'Services that do not do their work',
        description:
          'How many of the five failed when they were last tried, once a minute; /status of the API names them. A bucket that can only be read shows here alone.',
        unit: 'short',
        targets: [
          [
            `max by (namespace) (tintype_job_last_done{${inNamespace}, job="status-sampling", what="failed"})`,
            '{{namespace}}',
          ],
        ],
      },
      {
        title: 'The clock of the database, ahead of ours',
        description:
          'Below 0 a pod is ahead of it. Beyond 10 s either way library sessions and embed URLs end at wrong times, and what is delivered around a full hour stands in the hour beside its own.',
        unit: 's',
        min: 'what is drawn',
        targets: [[gauge('tintype_database_lead_seconds', 'pod'), '{{pod}}']],
      },
      {
        title: 'Database connections',
        description:
          'Connections that are open, those of them that are free, and work that waits for one.',
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
          'Requests to the API a second: 5xx are ours, 4xx the callers’, 499 callers who left.',
        unit: 'reqps',
        targets: [[`sum by (status) (${rate('tintype_api_request_seconds_count')})`, '{{status}}']],
      },
      latency('Answers of the API', {
        metric: 'tintype_api_request_seconds',
        description:
          'How long the API takes to answer: half of the requests, 95 and 99 of a hundred, without those that bring the bytes of an upload.',
        filter: WITHOUT_BYTES_IN,
      }),
      {
        title: 'Refused by rate',
        description:
          'Requests that were refused with rate_limited, by the rate that they went over.',
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
          'Where the bytes of delivered images came from; render is what had to be drawn first.',
        unit: 'reqps',
        targets: [
          [`sum by (source) (${rate('tintype_delivery_request_seconds_count')})`, '{{source}}'],
        ],
      },
      {
        title: 'Deliveries by status',
        description:
          'Answers of the delivery hosts a second: 5xx are ours, 403 and 404 are told to viewers.',
        unit: 'reqps',
        targets: [
          [`sum by (status) (${rate('tintype_delivery_request_seconds_count')})`, '{{status}}'],
        ],
      },
      latency('Answers of delivery', {
        metric: 'tintype_delivery_request_seconds',
        description:
          'How long viewers wait for an image; what has to be drawn first takes longer. Without originals, which take as long as their viewers.',
        filter: WITHOUT_ORIGINALS,
      }),
      {
        title: 'Bytes delivered',
        description: 'Bodies that were handed to viewers and CDNs, a second.',
        unit: 'Bps',
        targets: [[`sum(${rate('tintype_delivery_bytes_total')})`, 'bodies']],
      },
      {
        title: 'Deliveries that the disk did not take',
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
        description: 'Cores that each pod uses; 1 is one whole core.',
        unit: 'percentunit',
        targets: [[`sum by (pod) (${rate('tintype_process_cpu_seconds_total')})`, '{{pod}}']],
      },
      {
        title: 'Memory',
        description: 'Resident memory of each process, without that of its decoders.',
        unit: 'bytes',
        targets: [[gauge('tintype_process_resident_memory_bytes', 'pod'), '{{pod}}']],
      },
      {
        title: 'Event loop, p99',
        description:
          'How late each process answers what is due: more than a second is too much work for its core.',
        unit: 's',
        targets: [[gauge('tintype_nodejs_eventloop_lag_p99_seconds', 'pod'), '{{pod}}']],
      },
      {
        title: 'Starts within 15 minutes',
        description:
          'How often each process was started anew in its pod: twice or more is one that dies again and again.',
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
