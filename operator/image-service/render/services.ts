/** Objects beside the pods: the Services of the API and of delivery, disruption budgets, the service account. */
import { components, type Installation } from '../installation.ts';
import { type RenderedObject, renderObject, selectorOf, toMap, unsetFields } from './object.ts';

export const SERVICE_PORT = 80;

export function renderServices(of: Installation): RenderedObject[] {
  return (['api', 'delivery'] as const).map((component) =>
    renderObject(
      of,
      { apiVersion: 'v1', kind: 'Service', suffix: component, component },
      {
        spec: {
          type: 'ClusterIP',
          selector: selectorOf(of, component),
          ports: [{ name: 'http', port: SERVICE_PORT, targetPort: 'http', protocol: 'TCP' }],
          ...unsetFields('externalIPs'),
        },
      },
    ),
  );
}

/**
 * Lets one pod of a part be moved at a time; a pod that is not ready never blocks the draining of a
 * node.
 */
export function renderDisruptionBudgets(of: Installation): RenderedObject[] {
  return components.map((component) =>
    renderObject(
      of,
      { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', suffix: component, component },
      {
        spec: {
          maxUnavailable: 1,
          unhealthyPodEvictionPolicy: 'AlwaysAllow',
          selector: { matchLabels: selectorOf(of, component) },
        },
      },
    ),
  );
}

/** Without a token, as no process talks to the API server. */
export function renderServiceAccount(of: Installation): RenderedObject {
  const annotations = toMap(of.spec.serviceAccountAnnotations);
  const head = { apiVersion: 'v1', kind: 'ServiceAccount', suffix: 'runtime', annotations };
  return renderObject(of, head, { automountServiceAccountToken: false });
}
