/** The objects of the Prometheus Operator: where to scrape metrics, and the alerts. */
import { OPERATOR_NAMESPACE, runbookPage } from './alert.ts';
import { alerts } from './alerts.ts';
import type { Manifest } from './manifest.ts';
import { metadata, type Place } from './place.ts';

export const monitoringManifests: readonly Manifest[] = [
  {
    folder: 'prometheus',
    file: 'pod-monitor',
    when: '.Values.metrics.podMonitor.enabled',
    make: podMonitor,
  },
  { folder: 'prometheus', file: 'rules', when: '.Values.metrics.rules.enabled', make: rules },
];

function podMonitor(place: Place): object {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: metadata(place, place.fullname),
    spec: {
      namespaceSelector: { matchNames: place.inhabited },
      // All processes: the operator, and everything that it deploys.
      selector: { matchLabels: { 'app.kubernetes.io/name': 'tintype' } },
      podMetricsEndpoints: [
        // Tintype's job metrics have a `job` label of their own.
        { port: 'metrics', path: '/metrics', interval: '30s', honorLabels: true },
      ],
    },
  };
}

function rules(place: Place): object {
  const runbooks = place.scalar('metrics.rules.runbookUrl');
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: metadata(place, place.fullname),
    spec: {
      groups: [
        {
          name: 'tintype',
          rules: alerts.map(({ name, severity, summary, description, ...asked }) => ({
            alert: name,
            expr: asked.expr.replaceAll(OPERATOR_NAMESPACE, place.bareNamespace),
            for: asked.for,
            labels: { severity },
            annotations: {
              summary,
              description,
              runbook_url: `${runbooks}/${runbookPage(name)}.md`,
            },
          })),
        },
      ],
    },
  };
}
