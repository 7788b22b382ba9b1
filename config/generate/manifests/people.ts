/** Roles of people for the custom resources; those of the cluster itself include them where that is wanted. */
import { customResources, GROUP } from './custom-resources.ts';
import type { Manifest } from './manifest.ts';
import { labels, type Place } from './place.ts';

/** Who has it may set `spec.staff`. */
export const STAFF_VERB = 'manage-staff-fields';

const READ = ['get', 'list', 'watch'];
const EDIT = [...READ, 'create', 'update', 'patch', 'delete'];

/** Verbs are named one by one: `*` would hold for `manage-staff-fields` too. */
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

/** For whom `spec.staff` is open; bound to nobody. */
function staffRole(place: Place): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `${place.fullname}-staff`, labels: labels(place) },
    rules: [{ apiGroups: [GROUP], resources: ['projects'], verbs: [STAFF_VERB] }],
  };
}
