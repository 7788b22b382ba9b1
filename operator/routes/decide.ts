/**
 * What has to change so that every host of a project leads to delivery, and what there is to say of it. Pure: the row,
 * the resource and what stands in the cluster go in, steps and a verdict come out. Suspended projects keep their
 * routes: delivery itself says that they are suspended. Spec: Project (custom_domains, status).
 */
import type { RoutedProjectRow } from '../../runtime/db/routed-projects.ts';
import { findDifference } from '../image-service/find-difference.ts';
import { deliveryName, type Edge, type EdgeFound, type RouteMode } from './edge.ts';
import { admissionOf, type KnownRoute } from './live-route.ts';
import { APPLIED, defaultHost, type RenderedRoute, renderRoute } from './render.ts';
import type { Verdict } from './verdict.ts';

/** What a Project resource asks of its routes. */
export type DeclaredRouting = {
  perProject: 'CustomDomainsOnly' | 'Always';
  probe: 'Disabled' | 'Enabled';
  /** Undefined: it leaves them to the API. */
  customDomains: readonly string[] | undefined;
};

export type RouteFacts = {
  project: RoutedProjectRow | undefined;
  /** Undefined where no resource declares the project. */
  declared: DeclaredRouting | undefined;
  edge: EdgeFound;
  /** The project's own. */
  live: readonly KnownRoute[];
  /** Of all default hosts. */
  wildcard: KnownRoute | undefined;
};

/** `new`: only where nobody else has an object of this name. */
export type RouteStep =
  | { do: 'apply'; route: RenderedRoute; to: 'new' | 'ours' }
  | { do: 'delete'; route: KnownRoute };

export type RouteDecision = { steps: RouteStep[]; verdict: Verdict; hosts: string[] };

export function decideRoute(facts: RouteFacts): RouteDecision {
  const { edge, live } = facts;
  if (edge.state !== 'ready') {
    return { steps: live.map(remove), verdict: outside(edge), hosts: hostsOf(facts) };
  }
  const wanted = wantedRoute(facts, edge);
  const present = wanted && live.find((each) => isOf(wanted, each));
  return {
    steps: [...applying(wanted, present), ...removing({ live, wanted, present })],
    verdict: judge(facts, { edge: edge.edge, mode: edge.mode, wanted, present }),
    hosts: hostsOf(facts),
  };
}

function outside(edge: Exclude<EdgeFound, { state: 'ready' }>): Verdict {
  if (edge.state === 'absent') return { reason: 'NoImageService', message: edge.why };
  const { name } = edge.edge.owner;
  const message = `the ImageService '${name}' has \`spec.routing.mode\` 'Disabled': routes are made by somebody else`;
  return { reason: 'RoutedByOthers', message };
}

function wantedRoute(
  { project, declared }: RouteFacts,
  { edge, mode }: { edge: Edge; mode: RouteMode },
): RenderedRoute | undefined {
  if (project === undefined) return undefined;
  const has_own_default = declared?.perProject === 'Always' ? 'yes' : 'no';
  return renderRoute(edge, mode, { ...project, has_own_default });
}

function hostsOf({ project, edge }: RouteFacts): string[] {
  if (project === undefined || edge.state === 'absent') return [];
  return [defaultHost(edge.edge, project), ...project.custom_domains];
}

function isOf({ mode, metadata }: RenderedRoute, { mode: is, object }: KnownRoute): boolean {
  return mode === is && metadata.name === object.metadata.name;
}

function applying(wanted: RenderedRoute | undefined, present: KnownRoute | undefined): RouteStep[] {
  if (wanted === undefined) return [];
  if (present === undefined) return [{ do: 'apply', route: wanted, to: 'new' }];
  return isAsWanted(wanted, present) ? [] : [{ do: 'apply', route: wanted, to: 'ours' }];
}

/** What others added stands; what we no longer declare is known by the digest of what was applied. */
function isAsWanted({ metadata, spec }: RenderedRoute, { object }: KnownRoute): boolean {
  const { labels, annotations, ownerReferences } = metadata;
  const isOwned = ownerReferences.every(({ uid }) =>
    object.metadata.ownerReferences?.some((each) => each.uid === uid),
  );
  const wanted = { metadata: { labels, annotations }, spec };
  return isOwned && findDifference(wanted, object) === undefined;
}

type Standing = {
  live: readonly KnownRoute[];
  wanted: RenderedRoute | undefined;
  present: KnownRoute | undefined;
};

/** A route of the other kind serves until the new one does. */
function removing({ live, wanted, present }: Standing): RouteStep[] {
  const isServed = present !== undefined && admissionOf(present).state === 'admitted';
  return live
    .filter((each) => each !== present)
    .filter((each) => wanted === undefined || each.mode === wanted.mode || isServed)
    .map(remove);
}

function remove(route: KnownRoute): RouteStep {
  return { do: 'delete', route };
}

type Judged = Omit<Standing, 'live'> & { edge: Edge; mode: RouteMode };

function judge(facts: RouteFacts, judged: Judged): Verdict {
  const { project, declared, wildcard } = facts;
  if (project === undefined) {
    return {
      reason: 'NotAccepted',
      message: 'there is no project to route to: see Accepted and Synced',
    };
  }
  const missing = declared?.customDomains?.find((each) => !project.custom_domains.includes(each));
  if (missing !== undefined) {
    const message = `'${missing}' is not a domain of the project: see Accepted and Synced`;
    return { reason: 'NotAccepted', message };
  }
  const { edge, mode, wanted, present } = judged;
  const own = wanted && { name: wanted.metadata.name, route: current(wanted, present) };
  const needsWildcard = declared?.perProject !== 'Always';
  const shared = needsWildcard ? { name: deliveryName(edge), route: wildcard } : undefined;
  for (const each of [own, shared]) {
    const trouble = each && judgeRoute(each, { edge, mode });
    if (trouble !== undefined) return trouble;
  }
  return { reason: 'Routed', message: `${print(hostsOf(facts))} leads to delivery` };
}

/** Nothing where it still says something else: what was admitted then is no answer. */
function current(wanted: RenderedRoute, present: KnownRoute | undefined): KnownRoute | undefined {
  const isCurrent =
    present?.object.metadata.annotations?.[APPLIED] === wanted.metadata.annotations[APPLIED];
  return isCurrent ? present : undefined;
}

function judgeRoute(
  { name, route }: { name: string; route: KnownRoute | undefined },
  { edge, mode }: { edge: Edge; mode: RouteMode },
): Verdict | undefined {
  const kind = mode === 'Ingress' ? 'Ingress' : 'HTTPRoute';
  const called = `the ${kind} '${edge.namespace}/${name}'`;
  if (route === undefined) return { reason: 'NotAdmitted', message: `${called} is not there yet` };
  const admission = admissionOf(route);
  if (admission.state === 'admitted') return undefined;
  if (admission.state === 'refused') {
    return { reason: 'RouteRefused', message: `${called} was refused, ${admission.why}`.trim() };
  }
  return { reason: 'NotAdmitted', message: `${called} has no address yet: ${advice(edge, mode)}` };
}

function advice({ spec }: Edge, mode: RouteMode): string {
  if (mode === 'Gateway') return `does the Gateway '${spec.routing?.gatewayRef?.name}' run?`;
  const { ingressClassName } = spec;
  return ingressClassName === undefined
    ? 'is there an ingress controller with a default class? If not, set `spec.ingressClassName`'
    : `does the ingress controller of the class '${ingressClassName}' run?`;
}

const HOSTS_PRINTED = 4;

export function print(hosts: readonly string[]): string {
  const more = hosts.length - HOSTS_PRINTED;
  const shown = hosts.slice(0, HOSTS_PRINTED).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
