// What is known about a resource that is being deleted. Spec: Project.
import { describe, expect, it } from 'vitest';
import { subjectOf, type TenantObject } from '../../../operator/cluster/tenant-object.ts';

const metadata = {
  namespace: 'shops',
  name: 'shop',
  uid: 'u1',
  resourceVersion: '1',
  deletionTimestamp: '2026-01-01T00:00:00Z',
};
const specOf = (kind: 'Project' | 'Recipe', spec?: TenantObject['spec']) =>
  subjectOf(kind, { metadata, ...(spec && { spec }) }).spec;

describe('the last known spec of a resource that is being deleted', () => {
  it('holds the deletion policy of a project', () => {
    expect(specOf('Project', { deletionPolicy: 'Retain' })).toEqual({ deletionPolicy: 'Retain' });
    expect(specOf('Project', {})).toEqual({});
  });

  it('is undefined if nobody saw the spec', () => {
    expect(specOf('Project')).toBeUndefined();
  });

  it('is undefined if it is invalid, and for kinds without a deletion policy', () => {
    expect(specOf('Project', { deletionPolicy: 'Perhaps' })).toBeUndefined();
    expect(specOf('Recipe', { transformChain: 'resize/9x9' })).toBeUndefined();
  });
});
