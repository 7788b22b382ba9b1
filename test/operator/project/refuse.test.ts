// Spec: Resources and their fields, Project (custom_domains, organization_id).
import { expect, it } from 'vitest';
import { refuseProject } from '../../../operator/project/refuse.ts';
import { project, projectRow, projectRows, released } from '../samples.ts';

const reasonOf = (domain: string, delivery_root_domain: string | undefined = 'images.example') => {
  const { identity, spec } = project({ staff: { customDomains: ['img.shop.example', domain] } });
  const rows = { ...projectRows(), delivery_root_domain };
  return refuseProject({ identity, spec, rows })?.reason;
};

it.each(['images.example', 'shop.images.example', 'a.b.images.example'])(
  'the custom domain %s is refused, as the service serves it already',
  (domain) => {
    expect(reasonOf(domain)).toBe('CustomDomainInvalid');
  },
);

it.each(['shop-images.example', 'images-example.org', 'images.example.org'])(
  'the custom domain %s is accepted, as it only looks like one of the service',
  (domain) => {
    expect(reasonOf(domain)).toBeUndefined();
  },
);

it.each([
  ['declares it', projectRow()],
  ['declared it before the resource was recreated', projectRow(released)],
])(
  'a project in another organization is refused as OrganizationImmutable to the resource that %s',
  (_who, row) => {
    const rows = projectRows({ project: row, organization_id: 'org_2' });
    expect(refuseProject({ ...project(), rows })?.reason).toBe('OrganizationImmutable');
  },
);
