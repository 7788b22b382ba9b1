// Based on the managed fields that the API server records for every write.
import { expect, it } from 'vitest';
import { findLastWriter } from '../../../operator/kube/find-last-writer.ts';
import type { ManagedFields } from '../../../operator/kube/resource.ts';

const containers = [
  { name: 'main', image: 'a', env: [{ name: 'A', value: '1' }] },
  { name: 'sidecar', image: 'b' },
];

function deployment(...managedFields: ManagedFields[]) {
  const metadata = { name: 'api', uid: 'u', resourceVersion: '1', managedFields };
  return { metadata, spec: { replicas: 7, template: { spec: { containers } } } };
}

const by = (manager: string, fieldsV1: object, more: object = {}) => {
  return { manager, fieldsV1, time: '2026-01-01T00:00:00Z', ...more };
};
const image = (name: string) => ({
  'f:spec': {
    'f:template': {
      'f:spec': { 'f:containers': { [`k:{"name":"${name}"}`]: { '.': {}, 'f:image': {} } } },
    },
  },
});
const replicas = { 'f:spec': { 'f:replicas': {} } };

it('findLastWriter names the manager of a field, in list items too', () => {
  const object = deployment(
    by('tintype/image-service', replicas),
    by('kubectl-scale', replicas, { subresource: 'scale' }),
    by('image-updater', image('main')),
    by('injector', image('sidecar')),
  );
  expect(findLastWriter(object, '.spec.replicas')).toBe('kubectl-scale');
  expect(findLastWriter(object, '.spec.template.spec.containers[0].image')).toBe('image-updater');
  expect(findLastWriter(object, '.spec.template.spec.containers[1].image')).toBe('injector');
});

it('findLastWriter assumes the last writer of the surrounding object if a field was removed', () => {
  const early = by('first', image('main'));
  const late = by('second', image('main'), { time: '2026-02-01T00:00:00Z' });
  expect(findLastWriter(deployment(late, early), '.spec.template.spec.containers')).toBe('second');
});

it('findLastWriter finds field names that contain dots', () => {
  const labels = { 'f:metadata': { 'f:labels': { 'f:app.kubernetes.io/name': {} } } };
  const all = { 'f:metadata': { 'f:labels': { 'f:app': {} } } };
  const object = deployment(by('wrong', all), by('right', labels));
  const named = { app: 'a', 'app.kubernetes.io/name': 'b' };
  const labelled = { ...object, metadata: { ...object.metadata, labels: named } };
  expect(findLastWriter(labelled, '.metadata.labels.app.kubernetes.io/name')).toBe('right');
});

it('findLastWriter ignores the operator and writers of the status, and finds nobody if nobody else wrote', () => {
  const object = deployment(
    by('tintype/image-service', replicas),
    by('tintype-operator', replicas),
    by('kube-controller-manager', { 'f:status': {} }, { subresource: 'status' }),
  );
  expect(findLastWriter(object, '.spec.replicas')).toBeUndefined();
  expect(findLastWriter({ metadata: { name: 'a', uid: 'u', resourceVersion: '1' } }, '.spec')).toBe(
    undefined,
  );
});
