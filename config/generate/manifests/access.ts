/**
 * The operator's permissions, from operator/permissions.ts: in all namespaces or the watched ones, and where it writes.
 */
import { type Permission, permissions } from '../../../operator/permissions.ts';
import { expression } from './chart-text.ts';
import type { Manifest } from './manifest.ts';
import { operatorName } from './operator.ts';
import { labels, metadata, type Place, RUNTIME_NAMESPACES } from './place.ts';

const EVERYWHERE = 'not .Values.watchNamespaces';
const RUNTIME = `${RUNTIME_NAMESPACES} | default (list .Release.Namespace)`;
const inNamespace = expression('$namespace | quote');

export const accessManifests: readonly Manifest[] = [
  {
    folder: 'rbac',
    file: 'cluster-role',
    when: EVERYWHERE,
    make: (place) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: operatorName(place), labels: labels(place) },
      rules: rules(permissions.tenant),
    }),
  },
  {
    folder: 'rbac',
    file: 'cluster-role-binding',
    when: EVERYWHERE,
    make: (place) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: operatorName(place), labels: labels(place) },
      roleRef: roleRef('ClusterRole', operatorName(place)),
      subjects: subjects(place),
    }),
  },
  ...roleAndBinding('tenant', { forEach: '.Values.watchNamespaces' }),
  ...roleAndBinding('runtime', { folder: 'rbac', forEach: RUNTIME }),
  ...roleAndBinding('delivery', { folder: 'rbac' }),
  ...roleAndBinding('own', { folder: 'rbac' }),
];

type Scope = keyof typeof permissions;

function roleAndBinding(scope: Scope, where: { folder?: string; forEach?: string }): Manifest[] {
  const name = (place: Place) => `${operatorName(place)}-${scope}`;
  const meta = (place: Place) => ({
    ...metadata(place, name(place)),
    namespace: namespaceOf(place, { scope, ...where }),
  });
  return [
    {
      ...where,
      file: `${scope}-role`,
      make: (place) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: meta(place),
        rules: rules(permissions[scope]),
      }),
    },
    {
      ...where,
      file: `${scope}-role-binding`,
      make: (place) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: meta(place),
        roleRef: roleRef('Role', name(place)),
        subjects: subjects(place),
      }),
    },
  ];
}

function namespaceOf(place: Place, { scope, forEach }: { scope: Scope; forEach?: string }): string {
  if (forEach !== undefined && place.isChart) return inNamespace;
  return scope === 'delivery' ? place.deliveryNamespace : place.namespace;
}

function rules(table: readonly Permission[]): object[] {
  return table.map(({ apiGroup, resources, names, verbs }) => ({
    apiGroups: [apiGroup],
    resources,
    ...(names === undefined ? {} : { resourceNames: names }),
    verbs,
  }));
}

function roleRef(kind: 'Role' | 'ClusterRole', name: string): object {
  return { apiGroup: 'rbac.authorization.k8s.io', kind, name };
}

function subjects(place: Place): object[] {
  return [{ kind: 'ServiceAccount', name: operatorName(place), namespace: place.namespace }];
}
