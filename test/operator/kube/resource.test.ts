import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  collectionPath,
  keyOf,
  objectPath,
  parseKey,
  resourceType,
} from '../../../operator/kube/resource.ts';
import { configMaps } from './config-map.ts';

const leases = resourceType({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
});

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?$/);

describe('a resource type', () => {
  it('parses every key back to the name and namespace that it was printed from', () => {
    fc.assert(
      fc.property(label, fc.option(label, { nil: undefined }), (name, namespace) => {
        const place = parseKey(keyOf({ name, namespace }));
        expect([place.name, place.namespace]).toEqual([name, namespace]);
      }),
    );
  });

  it('has paths in the core group and in others, in one namespace and in all', () => {
    expect(collectionPath(configMaps)).toBe('/api/v1/configmaps');
    expect(collectionPath(leases, 'shop')).toBe(
      '/apis/coordination.k8s.io/v1/namespaces/shop/leases',
    );
    expect(objectPath(configMaps, { name: 'a/../b', namespace: 'shop' })).toBe(
      '/api/v1/namespaces/shop/configmaps/a%2F..%2Fb',
    );
  });

  it('rejects the path of a namespaced object without a namespace', () => {
    expect(() => objectPath(leases, { name: 'a' })).toThrow('lies in a namespace');
  });

  it.each([[null], [{}], [{ metadata: null }], [{ metadata: { name: 'a', uid: 'b' } }]])(
    'rejects %j as an object',
    (json) => {
      expect(() => configMaps.parse(json)).toThrow('without name, uid or version');
    },
  );
});
