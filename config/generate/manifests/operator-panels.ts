/** The panels of the operator, and of the installations that it makes. */
import { gauge, inNamespace, type PanelRow, rate } from './panel.ts';

const slowest = (metric: string) =>
  `histogram_quantile(0.95, sum by (kind, le) (${rate(`${metric}_bucket`)}))`;

const ofPool = 'installation, component';
const POOL = '{{installation}} {{component}}';

export const operatorRows: readonly PanelRow[] = [
  {
    title: 'Operator',
    panels: [
      {
        title: 'Passes of the operator by result',
        description:
          'Passes over resources a second, by controller: error is tried again with growing pauses.',
        unit: 'ops',
        targets: [
          [
            `sum by (controller, result) (${rate('controller_runtime_reconcile_total', 'container="operator"')})`,
            '{{controller}} {{result}}',
          ],
        ],
      },
      {
        title: 'Failed passes within ten minutes',
        description:
          'Passes that failed, by controller: more than 30 mean that it puts little into effect.',
        unit: 'short',
        targets: [
          [
            `sum by (controller) (increase(controller_runtime_reconcile_errors_total{${inNamespace}, container="operator"}[10m]))`,
            '{{controller}}',
          ],
        ],
      },
      {
        title: 'Passes of the operator, p99',
        description: 'How long the slowest passes of each controller take.',
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
        description: 'Resources that are due and that no worker has taken yet, by queue.',
        unit: 'short',
        targets: [[gauge('workqueue_depth', 'name'), '{{name}}']],
      },
      {
        title: 'Who leads',
        description: '1 for the pod that leads: exactly one should.',
        unit: 'short',
        targets: [[gauge('leader_election_master_status', 'pod'), '{{pod}}']],
      },
      {
        title: 'Requests to the API server',
        description:
          'What the operator asks the API server for: 429 is being held back, 401 and 403 are its rights.',
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
    title: 'What the operator sees',
    panels: [
      {
        title: 'Since a watch last gave a sign',
        description:
          'How long the operator has heard nothing of a kind: the API server gives a sign each minute at least, and 15 minutes are too long.',
        unit: 's',
        targets: [
          [`time() - min by (kind) (tintype_cache_last_event_seconds{${inNamespace}})`, '{{kind}}'],
        ],
      },
      {
        title: 'Objects in caches',
        description: 'Objects of each kind that the operator holds in memory.',
        unit: 'short',
        targets: [[gauge('tintype_cache_objects', 'kind'), '{{kind}}']],
      },
      {
        title: 'Resources that an annotation holds',
        description:
          'Resources that tintype.dev/paused or tintype.dev/plan-only keep as they are: whatever is declared there does nothing.',
        unit: 'short',
        targets: [
          [gauge('tintype_resources_held', 'kind, annotation'), '{{kind}} {{annotation}}'],
          [gauge('tintype_installation_paused', 'installation'), 'ImageService {{installation}}'],
        ],
      },
      {
        title: 'Lists and watches that were begun',
        description:
          'Watches are begun anew every few minutes; lists again and again mean that watches do not hold.',
        unit: 'ops',
        targets: [
          [`sum by (kind) (${rate('tintype_cache_relist_total')})`, '{{kind}}: lists'],
          [`sum by (kind) (${rate('tintype_cache_watch_reconnect_total')})`, '{{kind}}: watches'],
        ],
      },
      {
        title: 'What owners of resources wait for, p95',
        description:
          'How long a resource takes until it is ready, rows that drifted until they are healed, and a deletion until its rows are let go of.',
        unit: 's',
        targets: [
          [slowest('tintype_resource_time_to_ready_seconds'), '{{kind}}: ready'],
          [slowest('tintype_resource_drift_seconds'), '{{kind}}: healed'],
          [slowest('tintype_resource_deletion_seconds'), '{{kind}}: deleted'],
        ],
      },
    ],
  },
  {
    title: 'Installations and their workers',
    panels: [
      {
        title: 'Installations that are ready',
        description: '0 where the condition Ready of an ImageService is False, which says why.',
        unit: 'short',
        targets: [[gauge('tintype_installation_ready', 'installation'), '{{installation}}']],
      },
      {
        title: 'Installations that are stalled',
        description: '1 where somebody has to mend something: the condition Stalled says what.',
        unit: 'short',
        targets: [[gauge('tintype_installation_stalled', 'installation'), '{{installation}}']],
      },
      {
        title: 'Workers of a pool',
        description:
          'Workers that a pool was last given, that its load asks for, and that it may have: of the built-in scaler.',
        unit: 'short',
        targets: [
          [gauge('tintype_scaler_workers', ofPool), `${POOL}: given`],
          [gauge('tintype_scaler_wanted_workers', ofPool), `${POOL}: needed`],
          [gauge('tintype_scaler_max_workers', ofPool), `${POOL}: at most`],
        ],
      },
      {
        title: 'Since workers were looked at',
        description:
          'How long ago the operator last looked at the pools of an installation; more than five minutes is too long.',
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
