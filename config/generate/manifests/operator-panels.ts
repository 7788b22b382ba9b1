/** The panels of the operator, and of the installations that it makes. */
import { gauge, type Panel, rate } from './panel.ts';

export const operatorRows: readonly { title: string; panels: readonly Panel[] }[] = [
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
    title: 'Installations and their workers',
    panels: [
      {
        title: 'Ready',
        unit: 'short',
        targets: [[gauge('tintype_installation_ready', 'installation'), '{{installation}}']],
      },
      {
        title: 'To be mended',
        unit: 'short',
        targets: [[gauge('tintype_installation_stalled', 'installation'), '{{installation}}']],
      },
      {
        title: 'Workers',
        unit: 'short',
        targets: [
          [gauge('tintype_scaler_workers', 'installation, component'), '{{component}}: are there'],
          [
            gauge('tintype_scaler_wanted_workers', 'installation, component'),
            '{{component}}: needed',
          ],
          [
            gauge('tintype_scaler_max_workers', 'installation, component'),
            '{{component}}: at most',
          ],
        ],
      },
      {
        title: 'Since workers were looked at',
        unit: 's',
        targets: [
          [
            `time() - ${gauge('tintype_scaler_last_look_seconds', 'installation')}`,
            '{{installation}}',
          ],
        ],
      },
    ],
  },
];
