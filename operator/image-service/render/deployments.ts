/** The Deployments of the long-running parts. Old pods stay until new ones are ready. */
import { type Component, components, type Installation } from '../installation.ts';
import { digest, type RenderedObject, renderObject, selectorOf, unsetFields } from './object.ts';
import { podTemplate, unsetForeignFields } from './pod.ts';

/**
 * On a Deployment and its newest pods: a digest of the template that the Deployment was updated to.
 */
export const REVISION = 'tintype.dev/revision';
/** The revision that was rolled back, and why. */
export const ROLLED_BACK = 'tintype.dev/rolled-back';
export const ROLLED_BACK_WHY = 'tintype.dev/rolled-back-why';
/** A digest of the spec that asked for it: another spec is tried again. */
export const ROLLED_BACK_SPEC = 'tintype.dev/rolled-back-spec';
export const PROGRESS_SECONDS = 600;

export function renderDeployments(of: Installation): RenderedObject[] {
  return components.map((component) => renderDeployment(of, component));
}

function renderDeployment(of: Installation, component: Component): RenderedObject {
  const { metadata, spec } = podTemplate(of, component, [commandOf(component)]);
  const revision = digest({ metadata, spec });
  const labels = { ...metadata.labels, [REVISION]: revision };
  const replicas = replicasOf(of, component);
  const head = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    suffix: component,
    component,
    annotations: { [REVISION]: revision },
  };
  return renderObject(of, head, {
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      ...unsetFields('paused'),
      revisionHistoryLimit: 3,
      progressDeadlineSeconds: PROGRESS_SECONDS,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '25%' } },
      selector: { matchLabels: selectorOf(of, component) },
      template: unsetForeignFields({ metadata: { ...metadata, labels }, spec }),
    },
  });
}

function isWorker(component: Component): boolean {
  return component.startsWith('worker-');
}

/** Undefined for workers, whose number an autoscaler sets. */
function replicasOf({ spec }: Installation, component: Component): number | undefined {
  if (component === 'api') return spec.api?.replicas ?? 2;
  if (component === 'delivery') return spec.delivery?.replicas ?? 2;
  if (component === 'dispatcher') return spec.dispatcher?.replicas ?? 1;
  return undefined;
}

function commandOf(component: Component): string {
  return isWorker(component) ? 'worker' : component;
}
