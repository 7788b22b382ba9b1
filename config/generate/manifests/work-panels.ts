/** The panels of what workers and the dispatcher do. */
import { gauge, inNamespace, latency, type PanelRow, rate } from './panel.ts';

export const workRows: readonly PanelRow[] = [
  {
    title: 'Workers',
    panels: [
      {
        title: 'Uploads by result',
        description: 'Processed uploads a second: ready, or the code that they were refused with.',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_ingest_seconds_count')})`, '{{result}}']],
      },
      latency('Processing of uploads', {
        metric: 'tintype_ingest_seconds',
        description: 'How long a worker takes from the bytes of an upload to its published image.',
      }),
      {
        title: 'Waiting uploads',
        description: 'Uploads that wait for a worker, or to be tried again after an outage.',
        unit: 'short',
        targets: [[gauge('tintype_uploads_waiting', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'The oldest waiting upload',
        description: 'How long somebody has waited for an upload; mostly it is seconds.',
        unit: 's',
        targets: [[gauge('tintype_uploads_waiting_seconds', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Renders by result',
        description: 'Derived images that were drawn a second, and those that failed.',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_render_seconds_count')})`, '{{result}}']],
      },
      latency('Rendering', {
        metric: 'tintype_render_seconds',
        description: 'How long a worker takes for one derived image.',
      }),
      {
        title: 'Killed decoders',
        description:
          'Decoders that ended before their picture was done, by reason; single ones are bad pictures.',
        unit: 'ops',
        targets: [[`sum by (reason) (${rate('tintype_decoders_killed_total')})`, '{{reason}}']],
      },
      {
        title: 'Messages that wait in a queue',
        description: 'Messages and calls that no worker has taken yet.',
        unit: 'short',
        targets: [[gauge('tintype_queue_waiting', 'queue'), '{{queue}}']],
      },
      {
        title: 'Messages that workers have in hand',
        description: 'Messages and calls that each pod works on now, by queue.',
        unit: 'short',
        targets: [[gauge('tintype_queue_in_hand', 'pod, queue'), '{{pod}} {{queue}}']],
      },
    ],
  },
  {
    title: 'Jobs and CDN',
    panels: [
      {
        title: 'Runs of jobs by result',
        description:
          'Runs of scheduled jobs a second: succeeded, failed, or skipped as another one was under way.',
        unit: 'ops',
        targets: [
          [`sum by (job, result) (${rate('tintype_job_seconds_count')})`, '{{job}} {{result}}'],
        ],
      },
      {
        title: 'Since a job last succeeded',
        description:
          'How long ago each job last ended well: longer than its schedule means that it is overdue.',
        unit: 's',
        targets: [[`time() - ${gauge('tintype_job_last_success_seconds', 'job')}`, '{{job}}']],
      },
      {
        title: 'Failed runs since a job last succeeded',
        description: 'Runs that failed in a row: 0 where the last one ended well.',
        unit: 'short',
        targets: [[gauge('tintype_job_failed_in_row', 'job'), '{{job}}']],
      },
      {
        title: 'What jobs did',
        description: 'What runs of jobs deleted, completed, sent and charged, a second.',
        unit: 'ops',
        targets: [[`sum by (job, what) (${rate('tintype_job_done_total')})`, '{{job}}: {{what}}']],
      },
      {
        title: 'Purges of the CDN by result',
        description: 'Purges that the CDN took (sent) and those that are tried again (failed).',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_cdn_purges_total')})`, '{{result}}']],
      },
      {
        title: 'Purges that wait',
        description: 'Purges that are due and that the CDN has not taken; mostly there are none.',
        unit: 'short',
        targets: [[gauge('tintype_cdn_purges_waiting', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Oldest purge that waits',
        description:
          'How long ago the change was that it is for: so long some viewers see what was.',
        unit: 's',
        targets: [[gauge('tintype_cdn_purges_waiting_seconds', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Webhooks by result',
        description: 'Attempts to deliver webhooks: delivered, failed (tried again) or abandoned.',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_webhook_seconds_count')})`, '{{result}}']],
      },
      {
        title: 'Scans by result',
        description:
          'Scans of new pictures: clear, flagged, failed, put_off (tried again) or late.',
        unit: 'ops',
        targets: [[`sum by (result) (${rate('tintype_scans_total')})`, '{{result}}']],
      },
      {
        title: 'Pictures that wait for the scanner',
        description: 'New pictures that nobody has scanned yet; they are served meanwhile.',
        unit: 'short',
        targets: [[gauge('tintype_checks_waiting', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'Oldest picture that waits for the scanner',
        description: 'How long the oldest of them has waited; mostly it is seconds.',
        unit: 's',
        targets: [[gauge('tintype_checks_waiting_seconds', 'namespace'), '{{namespace}}']],
      },
      {
        title: 'What the last reconciliation found',
        description:
          'Days whose usage and charges do not agree, and pieces of spools that never came: 0 is right.',
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
