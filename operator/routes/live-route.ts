/** A route as it is in the cluster, of either kind, and whether somebody serves it. */
import { type KubeObject, type ResourceType, resourceType } from '../kube/resource.ts';
import { PROJECT_LABEL, type RouteMode } from './edge.ts';

export type LiveRoute = KubeObject & { kind?: string; spec?: unknown; status?: RouteStatus };

type RouteStatus = {
  loadBalancer?: { ingress?: unknown[] };
  parents?: { parentRef?: { name?: string }; conditions?: ParentCondition[] }[];
};

type ParentCondition = {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
};

export const routeTypes: Readonly<Record<RouteMode, ResourceType<LiveRoute>>> = {
  Ingress: resourceType<LiveRoute>({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    plural: 'ingresses',
    scope: 'Namespaced',
  }),
  Gateway: resourceType<LiveRoute>({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    plural: 'httproutes',
    scope: 'Namespaced',
    presence: 'optional',
  }),
};

/** With the kind that it has, which lists do not tell. */
export type KnownRoute = { mode: RouteMode; object: LiveRoute };

export function projectOf({ metadata }: LiveRoute): string | undefined {
  return metadata.labels?.[PROJECT_LABEL];
}

export function findRoute(
  live: readonly KnownRoute[],
  { mode, name }: { mode: RouteMode; name: string },
): KnownRoute | undefined {
  return live.find((each) => each.mode === mode && each.object.metadata.name === name);
}

/** Of an HTTPRoute. */
export function hostsOfRoute({ spec }: LiveRoute): readonly string[] {
  return (spec as { hostnames?: string[] } | undefined)?.hostnames ?? [];
}

/** `refused`: in the words of the controller. */
export type Admission =
  | { state: 'admitted' }
  | { state: 'waiting' }
  | { state: 'refused'; why: string };

export function admissionOf({ mode, object }: KnownRoute): Admission {
  const { status = {} } = object;
  if (mode === 'Ingress') {
    return { state: status.loadBalancer?.ingress?.length ? 'admitted' : 'waiting' };
  }
  const { generation } = object.metadata;
  // What was said of an earlier state is no answer; who says of none which it was is believed.
  const conditions = (status.parents ?? [])
    .flatMap((parent) => parent.conditions ?? [])
    .filter(({ observedGeneration = generation }) => observedGeneration === generation);
  const refused = conditions.find(
    ({ type, status: is }) => /^(Accepted|ResolvedRefs)$/.test(type) && is === 'False',
  );
  if (refused !== undefined) {
    return { state: 'refused', why: `${refused.reason ?? refused.type}: ${refused.message ?? ''}` };
  }
  const isAccepted = conditions.some(
    ({ type, status: is }) => type === 'Accepted' && is === 'True',
  );
  return { state: isAccepted ? 'admitted' : 'waiting' };
}
