import { expect, it } from 'vitest';
import { createDependants } from '../../../operator/cluster/dependants.ts';
import type { TenantKind, TenantObject } from '../../../operator/cluster/tenant-object.ts';

function resource(name: string, project?: string): TenantObject {
  const metadata = { name, namespace: 'team', uid: name, resourceVersion: '1' };
  return { metadata, spec: project === undefined ? {} : { projectRef: { name: project } } };
}

function added(kind: TenantKind, object: TenantObject) {
  const key = `team/${object.metadata.name}`;
  return [kind, { kind: 'added', key, object, previous: undefined }] as const;
}

const KINDS = ['SigningKey', 'WatermarkPreset', 'Recipe'] as const;

it('a project wakes all resources that refer to it; its signing keys and watermark presets wake it', () => {
  const dependants = createDependants();
  for (const kind of KINDS) dependants.handleChange(...added(kind, resource('one', 'shop')));
  dependants.handleChange(...added('Recipe', resource('two', 'other')));
  const woken = (kind: TenantKind, object: TenantObject) =>
    dependants.of(kind, object).map((each) => `${each.kind} ${each.key}`);
  expect(woken('Project', resource('shop'))).toEqual(KINDS.map((kind) => `${kind} team/one`));
  expect(KINDS.map((kind) => woken(kind, resource('one', 'shop')))).toEqual([
    ['Project team/shop'],
    ['Project team/shop'],
    [],
  ]);
});
