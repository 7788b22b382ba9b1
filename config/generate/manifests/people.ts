/**
 * Roles for people who use the custom resources; the cluster's own roles aggregate them where that is wanted.
 */
import { GROUP } from '../../../operator/kinds.ts';
import { customResources } from './custom-resources.ts';
import type { Manifest } from './manifest.ts';
import { labels, type Place } from './place.ts';

/** Whoever has this verb may set `spec.staff`. */
export const STAFF_VERB = 'manage-staff-fields';

const READ = ['get', 'list', 'watch'];
const EDIT = [...READ, 'create', 'update', 'patch', 'delete'];

/** Verbs are listed one by one: `*` would include `manage-staff-fields`. */
const people = {
  admin: { verbs: [...EDIT, 'deletecollection'], aggregates: ['admin'] },
  editor: { verbs: EDIT, aggregates: ['edit'] },
  viewer: { verbs: READ, aggregates: ['view'] },
} as const;

export const peopleManifests: readonly Manifest[] = [
  ...customResources.flatMap(({ plural }) =>
    (['admin', 'editor', 'viewer'] as const).map((role) => personRole(plural, role)),
  ),
  { folder: 'rbac', file: 'staff-role', make: staffRole },
];

function personRole(plural: string, role: keyof typeof people): Manifest {
  const { verbs, aggregates } = people[role];
  return {
    folder: 'rbac',
    file: `${plural}-${role}`,
    make: (place) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: {
        name: `${place.fullname}-${plural}-${role}`,
        labels: {
          ...labels(place),
          ...Object.fromEntries(
            aggregates.map((each) => [
              `rbac.authorization.k8s.io/aggregate-to-${each}`,
              place.asText('rbac.aggregate'),
            ]),
          ),
        },
      },
      rules: [
        { apiGroups: [GROUP], resources: [plural], verbs },
        { apiGroups: [GROUP], resources: [`${plural}/status`], verbs: ['get'] },
      ],
    }),
  };
}

/** Allows setting `spec.staff`; bound to nobody. */
function staffRole(place: Place): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `${place.fullname}-staff`, labels: labels(place) },
    rules: [{ apiGroups: [GROUP], resources: ['projects'], verbs: [STAFF_VERB] }],
  };
}
