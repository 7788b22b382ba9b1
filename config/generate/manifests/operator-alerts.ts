/**
 * The alerts on the operator's own metrics: about the operator itself, and the installations that it deploys.
 */
import { type Alert, OPERATOR_NAMESPACE } from './alert.ts';

export const operatorAlerts: readonly Alert[] = [
  {
    name: 'TintypeOperatorWithoutLeader',
    // The first half returns nothing where no operator runs at all.
    expr: `max by (namespace) (leader_election_master_status{name="tintype-operator"}) < 1 or max by (namespace) (absent(leader_election_master_status{name="tintype-operator",namespace="${OPERATOR_NAMESPACE}"}))`,
    for: '2m',
    severity: 'critical',
    summary: 'No operator is the leader: declared resources are not reconciled.',
    description: 'No pod of the operator in {{ $labels.namespace }} holds the Lease.',
  },
  {
    name: 'TintypeOperatorErrors',
    expr: 'sum by (namespace, controller) (rate(controller_runtime_reconcile_errors_total{container="operator"}[10m])) * 600 > 30',
    for: '10m',
    severity: 'warning',
    summary: 'The operator fails to reconcile resources.',
    description:
      'Passes of the controller {{ $labels.controller }} failed {{ $value | humanize }} times within ten minutes.',
  },
  {
    name: 'TintypeOperatorBehind',
    expr: 'max by (namespace, name) (workqueue_depth{container="operator"}) > 100',
    for: '10m',
    severity: 'warning',
    summary: 'The operator cannot keep up.',
    description: '{{ $value | humanize }} resources wait in the queue {{ $labels.name }}.',
  },
  {
    name: 'TintypeOperatorBlind',
    expr: 'time() - min by (namespace, pod, kind) (tintype_cache_last_event_seconds) > 900',
    for: '2m',
    severity: 'critical',
    summary: 'The operator has heard nothing from the API server.',
    description:
      '{{ $labels.pod }} last received a message about {{ $labels.kind }} {{ $value | humanizeDuration }} ago.',
  },
  {
    name: 'TintypeInstallationStalled',
    expr: 'max by (namespace, installation) (tintype_installation_stalled) > 0',
    for: '10m',
    severity: 'critical',
    summary: 'An ImageService needs somebody to fix a problem.',
    description:
      'The condition Stalled of {{ $labels.installation }} says what is wrong and what to do.',
  },
  {
    name: 'TintypeInstallationNotReady',
    expr: 'min by (namespace, installation) (tintype_installation_ready) < 1 unless max by (namespace, installation) (tintype_installation_stalled) > 0',
    for: '30m',
    severity: 'warning',
    summary: 'An installation does not run as its ImageService declares.',
    description:
      '{{ $labels.installation }} has not been ready for half an hour. The condition Reconciling says what it waits for.',
  },
  {
    name: 'TintypeWorkersAtMaximum',
    expr: 'max by (namespace, installation, component) (tintype_scaler_wanted_workers) > max by (namespace, installation, component) (tintype_scaler_max_workers)',
    for: '15m',
    severity: 'warning',
    summary: 'A pool of workers has its maximum number of pods and needs more.',
    description:
      '{{ $labels.component }} of {{ $labels.installation }} would need {{ $value | humanize }} pods.',
  },
  {
    name: 'TintypeScalerBlind',
    expr: 'time() - max by (namespace, installation) (tintype_scaler_last_look_seconds) > 300',
    for: '5m',
    severity: 'warning',
    summary: 'The number of workers does not follow the load.',
    description:
      'The workers of {{ $labels.installation }} have not been checked for {{ $value | humanizeDuration }}.',
  },
];
