/**
 * What must change so that every host of a project leads to delivery, and what to report. Pure: the row, the resource
 * and the state of the cluster go in, steps and a verdict come out. Suspended projects keep their routes: delivery
 * itself reports the suspension. Spec: Project (custom_domains, status).
 */
import type { RoutedProjectRow } from '../../runtime/db/routed-projects.ts';
import { APPLIED } from '../image-service/render/object.ts';
import type { Altered } from '../installation/altered.ts';
import type { Became } from '../installation/became.ts';
import { heldOf, type Quarrels, quarrelKeys } from '../kube/quarrels.ts';
import { printSome } from '../print-some.ts';
import { declaredOf, isAsWritten } from './deviation.ts';
import { deliveryName, type EdgeFound, gatewayOf, ownFieldOf } from './edge.ts';
import { admissionOf, findRoute, isMadeByUs, type KnownRoute, routeTypes } from './live-route.ts';
import { keepOutgoing } from './outgoing.ts';
import { defaultHost, type RenderedRoute, renderRoutes, type Way } from './render.ts';
import type { Verdict } from './verdict.ts';
import { waitingWords } from './waiting.ts';

/** What a Project resource asks for its routes. */
export type DeclaredRouting = {
  perProject: 'CustomDomainsOnly' | 'Always';
  probe: 'Disabled' | 'Enabled';
  /** Undefined: the API manages them. */
  customDomains: readonly string[] | undefined;
};

export type RouteFacts = {
  project: RoutedProjectRow | undefined;
  /** Undefined if no resource declares the project. */
  declared: DeclaredRouting | undefined;
  edge: EdgeFound;
  /** All routes that are named for the project, whoever made them. */
  live: readonly KnownRoute[];
  /** The route of all default hosts. */
  wildcard: KnownRoute | undefined;
  /** What routes became on admission, as far as known. */
  became?: Pick<Became, 'find'> | undefined;
  quarrels?: Pick<Quarrels, 'held'> | undefined;
};

/** `new`: only if nobody else has an object of this name. */
export type RouteStep =
  | { do: 'apply'; route: RenderedRoute; to: 'new' | 'ours' }
  | { do: 'delete'; route: KnownRoute };

export type RouteDecision = {
  steps: RouteStep[];
  verdict: Verdict;
  hosts: string[];
  /** Routes that stay as the cluster changed them on admission. */
  altered: Altered[];
};

export function decideRoute(facts: RouteFacts): RouteDecision {
  const { edge, live } = facts;
  if (edge.state !== 'ready') {
    // A typing error must not take images offline; a deleted project needs no routes in any case.
    const isUnknown = edge.state === 'invalid' || edge.state === 'unseen';
    const isKept = isUnknown && facts.project !== undefined;
    const steps = isKept ? [] : madeByUs(live).map(remove);
    const verdict = judgeHosts(facts) ?? outside(edge);
    return { steps, verdict, hosts: hostsOf(facts), altered: [] };
  }
  const wanted = wantedRoutes(facts, edge).map((route) => withPresent(route, facts));
  return {
    steps: [...wanted.flatMap(applying), ...removing(wanted, facts, edge)],
    verdict: judge(facts, edge, wanted),
    hosts: hostsOf(facts),
    altered: wanted.flatMap((each) => alteredOf(each, facts)),
  };
}

function outside(edge: Exclude<EdgeFound, { state: 'ready' }>): Verdict {
  if (edge.state === 'invalid') return { reason: 'ImageServiceInvalid', message: edge.why };
  if (edge.state === 'absent') return { reason: 'NoImageService', message: edge.why };
  if (edge.state === 'unseen') return { reason: 'ReadRefused', message: edge.why };
  const { name } = edge.edge.owner;
  const message = `the ImageService '${name}' has \`spec.routing.mode\` 'Disabled': its routes are managed outside the operator`;
  return { reason: 'RoutedByOthers', message };
}

function wantedRoutes({ project, declared, live }: RouteFacts, way: Way): readonly RenderedRoute[] {
  if (project === undefined) return [];
  const has_own_default = declared?.perProject === 'Always' ? 'yes' : 'no';
  return renderRoutes(way, { ...project, has_own_default }, live);
}

/** The project's hosts, except those of the API. */
function hostsOf(facts: RouteFacts): string[] {
  const { edge } = facts;
  if (!('edge' in edge)) return [];
  return allHostsOf(facts).filter((host) => ownFieldOf(edge.edge, host) === undefined);
}

function allHostsOf({ project, edge }: RouteFacts): string[] {
  if (project === undefined || !('edge' in edge)) return [];
  return [defaultHost(edge.edge, project), ...project.custom_domains];
}

/** A wanted route, and the existing one of its kind and name. */
type Wanted = { route: RenderedRoute; present: KnownRoute | undefined; isAsWanted: boolean };

function withPresent(
  route: RenderedRoute,
  { live, became }: Pick<RouteFacts, 'live' | 'became'>,
): Wanted {
  const { mode, metadata } = route;
  const present = findRoute(live, { mode, name: metadata.name });
  const isAsWanted = present !== undefined && isAsWritten(route, present.object, became);
  return { route, present, isAsWanted };
}

function alteredOf({ route, present }: Wanted, { became }: RouteFacts): Altered[] {
  const paths = present && became?.find(declaredOf(route, present.object), present.object);
  const { kind } = routeTypes[route.mode];
  return paths === undefined ? [] : [{ kind, name: route.metadata.name, paths, since: 'before' }];
}

function applying({ route, present, isAsWanted }: Wanted): RouteStep[] {
  if (isAsWanted) return [];
  const isOurs = present !== undefined && isMadeByUs(present.object);
  return [{ do: 'apply', route, to: isOurs ? 'ours' : 'new' }];
}

/** Routes of the other kind stay until all of the new kind are served. */
function removing(wanted: readonly Wanted[], facts: RouteFacts, way: Way): RouteStep[] {
  const areServed = wanted.every((each) => isServed(each, way));
  const hosts = hostsOf(facts);
  return madeByUs(facts.live)
    .filter((each) => wanted.every(({ present }) => present !== each))
    .flatMap((each) =>
      each.mode === way.mode || areServed ? [remove(each)] : keepOutgoing(each, hosts),
    );
}

/** An admission from before the route's latest change does not count. */
function isServed({ present, isAsWanted }: Wanted, { edge }: Way): boolean {
  if (present === undefined || !isAsWanted) return false;
  return admissionOf(present, gatewayOf(edge)).state === 'admitted';
}

function madeByUs(live: readonly KnownRoute[]): KnownRoute[] {
  return live.filter(({ object }) => isMadeByUs(object));
}

function remove(route: KnownRoute): RouteStep {
  return { do: 'delete', route };
}

function judge(facts: RouteFacts, way: Way, wanted: readonly Wanted[]): Verdict {
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
  const taken = judgeHosts(facts);
  if (taken !== undefined) return taken;
  const undone = wanted.flatMap(({ route: { mode, metadata } }) => {
    return (facts.quarrels && heldOf(facts.quarrels, quarrelKeys(mode, metadata))) ?? [];
  });
  if (undone[0] !== undefined) return { reason: 'RouteUndone', message: undone[0].words };
  const own = wanted.map((each) => ({ name: each.route.metadata.name, route: current(each) }));
  const shared = { name: deliveryName(way.edge), route: wildcard };
  for (const each of declared?.perProject === 'Always' ? own : [...own, shared]) {
    const trouble = judgeRoute(each, way);
    if (trouble !== undefined) return trouble;
  }
  const hosts = hostsOf(facts);
  const verb = hosts.length === 1 ? 'leads' : 'lead';
  return { reason: 'Routed', message: `${print(hosts)} ${verb} to delivery` };
}

/** Undefined when the project may use all of its hosts. */
function judgeHosts(facts: RouteFacts): Verdict | undefined {
  const free = hostsOf(facts);
  const host = allHostsOf(facts).find((each) => !free.includes(each));
  if (host === undefined || !('edge' in facts.edge)) return undefined;
  const { edge } = facts.edge;
  const way = facts.project?.custom_domains.includes(host)
    ? 'remove it from the custom domains of the project'
    : 'declare the project under another slug';
  const message = `'${host}' is the host of \`spec.${ownFieldOf(edge, host)}\` of the ImageService '${edge.owner.name}', and leads to the API: ${way}, or change that field`;
  return { reason: 'HostTaken', message };
}

/** Undefined while the route differs from what is wanted: an admission from then does not count. */
function current({ route, present, isAsWanted }: Wanted): KnownRoute | undefined {
  const isCurrent =
    isAsWanted ||
    present?.object.metadata.annotations?.[APPLIED] === route.metadata.annotations[APPLIED];
  return isCurrent ? present : undefined;
}

function judgeRoute(
  { name, route }: { name: string; route: KnownRoute | undefined },
  { edge, mode }: Way,
): Verdict | undefined {
  const called = `the ${routeTypes[mode].kind} '${edge.namespace}/${name}'`;
  if (route === undefined) {
    const isShared = name === deliveryName(edge);
    const why = isShared ? `: the conditions of the ImageService '${edge.owner.name}' say why` : '';
    return { reason: 'NotAdmitted', message: `${called} does not exist yet${why}` };
  }
  const admission = admissionOf(route, gatewayOf(edge));
  if (admission.state === 'admitted') return undefined;
  if (admission.state === 'refused') {
    return { reason: 'RouteRefused', message: `${called} was refused, ${admission.why}`.trim() };
  }
  const words = waitingWords({ mode, namespace: edge.namespace, spec: edge.spec });
  return { reason: 'NotAdmitted', message: `${called} ${words}` };
}

const HOSTS_PRINTED = 4;

export function print(hosts: readonly string[]): string {
  return printSome(hosts, HOSTS_PRINTED);
}
