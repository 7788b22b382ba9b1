/** The panels of what workers and the dispatcher do. */
import { gauge, inNamespace, latency, type PanelRow, rate } from './panel.ts';

export const workRows: readonly PanelRow[] = [
  {
    title: 'Workers',
    panels: [
      {
        title: 'Uploads by result',
        description:
          'Processed uploads per second: ready, or the code that they were refused with.',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_ingest_seconds_count')})`, '{{result}}']],
      },
      latency('Processing of uploads', {
        metric: 'tintype_ingest_seconds',
        description: 'How long a worker takes from the bytes of an upload to its published image.',
      }),
      {
        title: 'Waiting uploads',
        description: 'Uploads that wait for a worker, or for a retry after an outage.',
        unit: 'short',
        targets: [[gauge('tintype_uploads_waiting', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'The oldest waiting upload',
        description: 'How long the oldest upload has waited; normally seconds.',
        unit: 's',
        targets: [[gauge('tintype_uploads_waiting_seconds', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Renders by result',
        description: 'Derived images rendered per second, and failed renders.',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_render_seconds_count')})`, '{{result}}']],
      },
      latency('Rendering', {
        metric: 'tintype_render_seconds',
        description: 'How long a worker takes to render one derived image.',
      }),
      {
        title: 'Killed decoders',
        description:
          'Decoders that ended before their image was finished, by reason; occasional ones are bad images.',
        unit: 'ops',
        targets: [[`sum by (reason) (${rate('tintype_decoders_killed_total')})`, '{{reason}}']],
      },
      {
        title: 'Messages waiting in a queue',
        description: 'Messages and calls that no worker has taken yet.',
        unit: 'short',
        targets: [[gauge('tintype_queue_waiting', 'queue'), '{{queue}}']],
      },
      {
        title: 'Messages in progress',
        description: 'Messages and calls that each pod is working on, by queue.',
        unit: 'short',
        targets: [[gauge('tintype_queue_in_hand', 'pod, work'), '{{pod}} {{work}}']],
      },
    ],
  },
  {
    title: 'Jobs and CDN',
    panels: [
      {
        title: 'Runs of jobs by result',
        description:
          'Runs of scheduled jobs per second: succeeded, failed, or skipped because another run was in progress.',
        unit: 'ops',
        targets: [
          [`sum by (job, result) (${rate('tintype_job_seconds_count')})`, '{{job}} {{result}}'],
        ],
      },
      {
        title: 'Time since a job last succeeded',
        description:
          'How long ago each job last succeeded: longer than its schedule means that it is overdue.',
        unit: 's',
        targets: [[`time() - ${gauge('tintype_job_last_success_seconds', 'job')}`, '{{job}}']],
      },
      {
        title: 'Failed runs since a job last succeeded',
        description: 'Consecutive failed runs: 0 if the last run succeeded.',
        unit: 'short',
        targets: [[gauge('tintype_job_failed_in_row', 'job'), '{{job}}']],
      },
      {
        title: 'Work done by jobs',
        description: 'Items that job runs deleted, completed, sent and charged, per second.',
        unit: 'ops',
        targets: [[`sum by (job, what) (${rate('tintype_job_done_total')})`, '{{job}}: {{what}}']],
      },
      {
        title: 'CDN purges by result',
        description: 'Purges that the CDN accepted (sent) and purges that are retried (failed).',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_cdn_purges_total')})`, '{{result}}']],
      },
      {
        title: 'Waiting purges',
        description: 'Purges that are due and that the CDN has not accepted; normally none.',
        unit: 'short',
        targets: [[gauge('tintype_cdn_purges_waiting', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Oldest waiting purge',
        description:
          'Age of the change that the purge is for: for this long, some viewers have seen the old state.',
        unit: 's',
        targets: [[gauge('tintype_cdn_purges_waiting_seconds', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Webhooks by result',
        description: 'Attempts to deliver webhooks: delivered, failed (retried) or abandoned.',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_webhook_seconds_count')})`, '{{result}}']],
      },
      {
        title: 'Scans by result',
        description: 'Scans of new images: clear, flagged, failed, put_off (retried) or late.',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_scans_total')})`, '{{result}}']],
      },
      {
        title: 'Images waiting for the scanner',
        description: 'New images that are not scanned yet; they are served meanwhile.',
        unit: 'short',
        targets: [[gauge('tintype_checks_waiting', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Oldest image waiting for the scanner',
        description: 'How long the oldest image has waited; normally seconds.',
        unit: 's',
        targets: [[gauge('tintype_checks_waiting_seconds', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Findings of the last reconciliation',
        description:
          'Days whose usage and charges do not match, and spool batches that never arrived: should be 0.',
        unit: 'short',
        targets: [
          [
            `max by (what) (tintype_job_last_done{${inNamespace}, job="reconciliation", what!="days"})`,
            '{{what}}',
          ],
        ],
      },
    ],
  },
];
