// Differences between objects in a cluster and their rendered form. Spec: Project.
import { expect, it } from 'vitest';
import { findDifference } from '../../../operator/image-service/find-difference.ts';

it.each([
  [
    'a label more in the selector of a Service',
    { spec: { selector: { a: '1' } } },
    'spec.selector',
  ],
  [
    'an additional label in the selector of a NetworkPolicy',
    { spec: { podSelector: { matchLabels: { a: '1' } } } },
    'spec.podSelector.matchLabels',
  ],
  ['an additional nodeSelector label', { spec: { nodeSelector: { a: '1' } } }, 'spec.nodeSelector'],
  [
    'a label in a selector that selects all pods',
    { spec: { podSelector: {} } },
    'spec.podSelector',
  ],
])('findDifference reports %s', (_what, rendered, path) => {
  const live = structuredClone(rendered);
  let place: Record<string, unknown> = live;
  for (const name of path.split('.')) place = place[name] as Record<string, unknown>;
  expect(findDifference(rendered, live)).toBeUndefined();
  place['extra'] = 'label';
  expect(findDifference(rendered, live)).toBe(`.${path}.extra`);
});

it('findDifference ignores fields that the API server adds', () => {
  const rendered = { spec: { replicas: 1, ports: [{ port: 80 }] } };
  const live = { spec: { replicas: 1, ports: [{ port: 80, protocol: 'TCP' }], added: true } };
  expect(findDifference(rendered, live)).toBeUndefined();
});
