/** A route in the cluster, of either kind, and whether a controller serves it. */
import { type KubeObject, type ResourceType, resourceType } from '../kube/resource.ts';
import { type GatewayRef, PROJECT_LABEL, type RouteMode } from './edge.ts';

export type LiveRoute = KubeObject & { spec?: unknown; status?: RouteStatus };

/** An HTTPRoute has host names, an Ingress rules. */
type RouteSpec = { hostnames?: string[]; rules?: { host?: string }[] };

export type RouteStatus = {
  loadBalancer?: { ingress?: unknown[] };
  parents?: { parentRef: ParentRef; conditions?: ParentCondition[] }[];
};

type ParentRef = {
  group?: string;
  kind?: string;
  namespace?: string;
  name: string;
  sectionName?: string;
};

type ParentCondition = {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
};

const GATEWAY_GROUP = 'gateway.networking.k8s.io';

export const routeTypes: Readonly<Record<RouteMode, ResourceType<LiveRoute>>> = {
  Ingress: resourceType<LiveRoute>({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    plural: 'ingresses',
  }),
  Gateway: resourceType<LiveRoute>({
    apiVersion: `${GATEWAY_GROUP}/v1`,
    kind: 'HTTPRoute',
    plural: 'httproutes',
    presence: 'optional',
  }),
};

/** Includes the kind, which items of a list lack. */
export type KnownRoute = { mode: RouteMode; object: LiveRoute };

/** Whether the operator made it: by its label or its owner, as a policy may remove either. */
export function isManagedByOperator({
  metadata: { labels, ownerReferences },
}: KubeObject): boolean {
  if (labels?.[PROJECT_LABEL] !== undefined) return true;
  return ownerReferences?.some(({ kind }) => kind === 'ImageService') === true;
}

export function findRoute(
  live: readonly KnownRoute[],
  { mode, name }: { mode: RouteMode; name: string },
): KnownRoute | undefined {
  return live.find((each) => each.mode === mode && each.object.metadata.name === name);
}

export function hostsOfRoute({ mode, object }: KnownRoute): readonly string[] {
  const { hostnames = [], rules = [] } = (object.spec ?? {}) as RouteSpec;
  return mode === 'Gateway' ? hostnames : rules.map(({ host }) => host ?? '');
}

/** `refused`: with the controller's reason. */
export type Admission =
  | { state: 'admitted' }
  | { state: 'waiting' }
  | { state: 'refused'; why: string };

/** Only the declared Gateway can admit an HTTPRoute: another one does not serve these hosts. */
export function admissionOf({ mode, object }: KnownRoute, gateway: GatewayRef): Admission {
  const { status = {} } = object;
  if (mode === 'Ingress') {
    return { state: status.loadBalancer?.ingress?.length ? 'admitted' : 'waiting' };
  }
  const { generation } = object.metadata;
  const said = (status.parents ?? [])
    .filter(({ parentRef }) => isGateway(parentRef, { gateway, route: object }))
    .map(({ conditions = [] }) => judge(conditions, generation));
  // One entry that serves it is enough: the Gateway's previous controller may have left an entry.
  const found = (['admitted', 'refused'] as const).map((state) =>
    said.find((each) => each.state === state),
  );
  return found.find((each) => each !== undefined) ?? { state: 'waiting' };
}

function judge(conditions: readonly ParentCondition[], generation: number | undefined): Admission {
  // A condition of an earlier generation does not count; one without a generation is believed.
  const current = conditions.filter(
    ({ observedGeneration = generation }) => observedGeneration === generation,
  );
  // Pending: no controller has looked at it yet.
  const refused = current.find(
    ({ type, status, reason }) =>
      /^(Accepted|ResolvedRefs)$/.test(type) && status === 'False' && reason !== 'Pending',
  );
  if (refused !== undefined) {
    return { state: 'refused', why: `${refused.reason ?? refused.type}: ${refused.message ?? ''}` };
  }
  const isAccepted = current.some(({ type, status }) => type === 'Accepted' && status === 'True');
  return { state: isAccepted ? 'admitted' : 'waiting' };
}

/** Defaults of the Gateway API: a Gateway, in the namespace of the route. */
function isGateway(
  { group = GATEWAY_GROUP, kind = 'Gateway', namespace, name, sectionName }: ParentRef,
  { gateway, route: { metadata } }: { gateway: GatewayRef; route: LiveRoute },
): boolean {
  if (group !== GATEWAY_GROUP || kind !== 'Gateway' || name !== gateway?.name) return false;
  const own = metadata.namespace;
  if ((namespace ?? own) !== (gateway.namespace ?? own)) return false;
  return gateway.sectionName === undefined || gateway.sectionName === sectionName;
}
