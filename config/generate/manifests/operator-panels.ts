/** The panels of the operator, and of the installations that it makes. */
import { gauge, type Panel, rate } from './panel.ts';

export const operatorRows: readonly { title: string; panels: readonly Panel[] }[] = [
  {
    title: 'Operator',
    panels: [
      {
        title: 'Passes of the operator by result',
        unit: 'ops',
        targets: [
          [
            `sum by (controller, result) (${rate('controller_runtime_reconcile_total', 'container="operator"')})`,
            '{{controller}} {{result}}',
          ],
        ],
      },
      {
        title: 'Passes of the operator, p99',
        unit: 's',
        targets: [
          [
            `histogram_quantile(0.99, sum by (controller, le) (${rate('controller_runtime_reconcile_time_seconds_bucket', 'container="operator"')}))`,
            '{{controller}}',
          ],
        ],
      },
      {
        title: 'Resources that wait for a pass',
        unit: 'short',
        targets: [[gauge('workqueue_depth', 'name'), '{{name}}']],
      },
      {
        title: 'Who leads',
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
        title: 'Installations that are ready',
        unit: 'short',
        targets: [[gauge('tintype_installation_ready', 'installation'), '{{installation}}']],
      },
      {
        title: 'Installations that are stalled',
        unit: 'short',
        targets: [[gauge('tintype_installation_stalled', 'installation'), '{{installation}}']],
      },
      {
        title: 'Workers of a pool',
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
