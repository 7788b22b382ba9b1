// What is known of a resource that goes. Spec: Project.
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

describe('the last spec of a resource that is going', () => {
  it('says what becomes of a project', () => {
    expect(specOf('Project', { deletionPolicy: 'Retain' })).toEqual({ deletionPolicy: 'Retain' });
    expect(specOf('Project', {})).toEqual({});
  });

  it('is not made up where nobody saw it: then the row of the project knows', () => {
    expect(specOf('Project')).toBeUndefined();
  });

  it('says nothing where it cannot be read, nor of what only has rows', () => {
    expect(specOf('Project', { deletionPolicy: 'Perhaps' })).toBeUndefined();
    expect(specOf('Recipe', { transformChain: 'resize/9x9' })).toBeUndefined();
  });
});
