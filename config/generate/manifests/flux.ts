/**
 * Health checks of the custom resources for Flux. Its built-in rules (kstatus) already read our conditions correctly;
 * these express the same in CEL, and fail at once when a resource cannot become ready by waiting.
 */
import { GROUP } from '../../../operator/kinds.ts';
import { WRITTEN } from './chart.ts';
import { printYaml } from './chart-text.ts';
import { customResources } from './custom-resources.ts';

const has = (type: string) =>
  `status.conditions.exists(c, c.type == '${type}' && c.status == 'True')`;
const isObserved =
  'has(status.observedGeneration) && status.observedGeneration == metadata.generation && has(status.conditions)';

const healthCheckExpressions = customResources.map(({ kind }) => ({
  apiVersion: `${GROUP}/v1alpha1`,
  kind,
  inProgress: `!(${isObserved}) || ${has('Reconciling')}`,
  failed: `${isObserved} && ${has('Stalled')}`,
  current: `${isObserved} && ${has('Ready')}`,
}));

export const fluxFiles: [string, string][] = [
  [
    'config/flux/projects.yaml',
    `${WRITTEN}# An example: the projects of a team, from the folder projects/ of a Git repository, healthy when they are ready.\n` +
      printYaml({
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        metadata: { name: 'projects', namespace: 'flux-system' },
        spec: {
          interval: '10m',
          timeout: '3m',
          prune: true,
          wait: true,
          path: './projects',
          sourceRef: { kind: 'GitRepository', name: 'team' },
          healthCheckExprs: healthCheckExpressions,
        },
      }),
  ],
];
