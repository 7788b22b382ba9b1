/** The panels of the operator, and of the installations that it deploys. */
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
          'Passes over resources per second, by controller; passes with result error are retried with growing pauses.',
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
          'Failed passes, by controller: more than 30 mean that the controller reconciles little.',
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
        title: 'Leader',
        description: '1 for the leader: exactly one pod should have it.',
        unit: 'short',
        targets: [[gauge('leader_election_master_status', 'pod'), '{{pod}}']],
      },
      {
        title: 'Requests to the API server',
        description:
          'Requests of the operator to the API server: 429 means throttling, 401 and 403 mean missing rights.',
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
    title: 'Watches and caches',
    panels: [
      {
        title: 'Time since the last message of a watch',
        description:
          'How long the operator has received nothing about a kind: the API server sends a message at least every minute, and 15 minutes are too long.',
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
        title: 'Resources held by an annotation',
        description:
          'Resources that tintype.dev/paused or tintype.dev/plan-only keep unchanged: changes to them have no effect.',
        unit: 'short',
        targets: [
          [gauge('tintype_resources_held', 'kind, annotation'), '{{kind}} {{annotation}}'],
          [gauge('tintype_installation_paused', 'installation'), 'ImageService {{installation}}'],
        ],
      },
      {
        title: 'Lists and watches started',
        description:
          'Watches restart every few minutes; repeated lists mean that watches do not last.',
        unit: 'ops',
        targets: [
          [`sum by (kind) (${rate('tintype_cache_relist_total')})`, '{{kind}}: lists'],
          [`sum by (kind) (${rate('tintype_cache_watch_reconnect_total')})`, '{{kind}}: watches'],
        ],
      },
      {
        title: 'Waiting times of resource owners, p95',
        description:
          'How long it takes until a resource is ready, until drifted rows are corrected, and until a deletion has released its rows.',
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
        description:
          '0 if the condition Ready of an ImageService is False; the condition says why.',
        unit: 'short',
        targets: [[gauge('tintype_installation_ready', 'installation'), '{{installation}}']],
      },
      {
        title: 'Installations that are stalled',
        description: '1 if somebody must fix a problem; the condition Stalled says which.',
        unit: 'short',
        targets: [[gauge('tintype_installation_stalled', 'installation'), '{{installation}}']],
      },
      {
        title: 'Workers of a pool',
        description:
          'Workers that were last set for a pool, that its load needs, and that it may have, from the built-in scaler.',
        unit: 'short',
        targets: [
          [gauge('tintype_scaler_workers', ofPool), `${POOL}: given`],
          [gauge('tintype_scaler_wanted_workers', ofPool), `${POOL}: needed`],
          [gauge('tintype_scaler_max_workers', ofPool), `${POOL}: at most`],
        ],
      },
      {
        title: 'Time since workers were checked',
        description:
          'How long ago the operator last checked the pools of an installation; more than five minutes is too long.',
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
