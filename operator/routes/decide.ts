/**
 * What must change so that every host of a project leads to delivery, and what to report. Pure: the row, the resource
 * and the state of the cluster go in, steps and a verdict come out. Suspended projects keep their routes: delivery
 * itself reports the suspension. Spec: Project (custom_domains, status).
 */
import type { RoutedProjectRow } from '../../runtime/db/routed-projects.ts';
import { APPLIED } from '../image-service/render/object.ts';
import type { AdmissionMutations } from '../installation/admission-mutations.ts';
import type { MutatedObject } from '../installation/mutated-object.ts';
import { findActiveRevert, type RevertedWrites, revertKeys } from '../kube/reverted-writes.ts';
import { printSome } from '../print-some.ts';
import { describeWaiting } from './describe-waiting.ts';
import { declaredOf, isAsRendered } from './deviation.ts';
import { deliveryName, type EdgeFound, gatewayOf, ownFieldOf } from './edge.ts';
import {
  admissionOf,
  findRoute,
  isManagedByOperator,
  type KnownRoute,
  routeTypes,
} from './live-route.ts';
import { defaultHost, type RenderedRoute, type RouteTarget, renderRoutes } from './render.ts';
import { narrowSuperseded } from './superseded-route.ts';
import type { Verdict } from './verdict.ts';

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
  /** How the cluster mutates routes on admission, as far as known. */
  mutations?: Pick<AdmissionMutations, 'find'> | undefined;
  reverts?: Pick<RevertedWrites, 'findActive'> | undefined;
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
  mutated: MutatedObject[];
};

export function decideRoute(facts: RouteFacts): RouteDecision {
  const { edge, live } = facts;
  if (edge.state !== 'ready') {
    // A typing error must not take images offline; a deleted project needs no routes in any case.
    const isUnknown = edge.state === 'invalid' || edge.state === 'unseen';
    const isKept = isUnknown && facts.project !== undefined;
    const steps = isKept ? [] : managedRoutes(live).map(remove);
    const verdict = judgeHosts(facts) ?? outside(edge);
    return { steps, verdict, hosts: hostsOf(facts), mutated: [] };
  }
  const wanted = wantedRoutes(facts, edge).map((route) => withPresent(route, facts));
  return {
    steps: [...wanted.flatMap(applying), ...removing(wanted, facts, edge)],
    verdict: judge(facts, edge, wanted),
    hosts: hostsOf(facts),
    mutated: wanted.flatMap((each) => findMutated(each, facts)),
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

function wantedRoutes(
  { project, declared, live }: RouteFacts,
  target: RouteTarget,
): readonly RenderedRoute[] {
  if (project === undefined) return [];
  const has_own_default = declared?.perProject === 'Always' ? 'yes' : 'no';
  return renderRoutes(target, { ...project, has_own_default }, live);
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
type Wanted = { route: RenderedRoute; present: KnownRoute | undefined; isUpToDate: boolean };

function withPresent(
  route: RenderedRoute,
  { live, mutations }: Pick<RouteFacts, 'live' | 'mutations'>,
): Wanted {
  const { mode, metadata } = route;
  const present = findRoute(live, { mode, name: metadata.name });
  const isUpToDate = present !== undefined && isAsRendered(route, present.object, mutations);
  return { route, present, isUpToDate };
}

function findMutated({ route, present }: Wanted, { mutations }: RouteFacts): MutatedObject[] {
  const paths = present && mutations?.find(declaredOf(route, present.object), present.object);
  const { kind } = routeTypes[route.mode];
  return paths === undefined ? [] : [{ kind, name: route.metadata.name, paths, since: 'before' }];
}

function applying({ route, present, isUpToDate }: Wanted): RouteStep[] {
  if (isUpToDate) return [];
  const isOurs = present !== undefined && isManagedByOperator(present.object);
  return [{ do: 'apply', route, to: isOurs ? 'ours' : 'new' }];
}

/** Routes of the other kind stay until all of the new kind are served. */
function removing(wanted: readonly Wanted[], facts: RouteFacts, target: RouteTarget): RouteStep[] {
  const areServed = wanted.every((each) => isServed(each, target));
  const hosts = hostsOf(facts);
  return managedRoutes(facts.live)
    .filter((each) => wanted.every(({ present }) => present !== each))
    .flatMap((each) =>
      each.mode === target.mode || areServed ? [remove(each)] : narrowSuperseded(each, hosts),
    );
}

/** An admission from before the route's latest change does not count. */
function isServed({ present, isUpToDate }: Wanted, { edge }: RouteTarget): boolean {
  if (present === undefined || !isUpToDate) return false;
  return admissionOf(present, gatewayOf(edge)).state === 'admitted';
}

function managedRoutes(live: readonly KnownRoute[]): KnownRoute[] {
  return live.filter(({ object }) => isManagedByOperator(object));
}

function remove(route: KnownRoute): RouteStep {
  return { do: 'delete', route };
}

function judge(facts: RouteFacts, target: RouteTarget, wanted: readonly Wanted[]): Verdict {
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
    return (facts.reverts && findActiveRevert(facts.reverts, revertKeys(mode, metadata))) ?? [];
  });
  if (undone[0] !== undefined) return { reason: 'RouteUndone', message: undone[0].message };
  const own = wanted.map((each) => ({ name: each.route.metadata.name, route: current(each) }));
  const shared = { name: deliveryName(target.edge), route: wildcard };
  for (const each of declared?.perProject === 'Always' ? own : [...own, shared]) {
    const problem = judgeRoute(each, target);
    if (problem !== undefined) return problem;
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
  const advice = facts.project?.custom_domains.includes(host)
    ? 'remove it from the custom domains of the project'
    : 'declare the project under another slug';
  const message = `'${host}' is the host of \`spec.${ownFieldOf(edge, host)}\` of the ImageService '${edge.owner.name}', and leads to the API: ${advice}, or change that field`;
  return { reason: 'HostTaken', message };
}

/** Undefined while the route differs from what is wanted: an admission from then does not count. */
function current({ route, present, isUpToDate }: Wanted): KnownRoute | undefined {
  const isCurrent =
    isUpToDate ||
    present?.object.metadata.annotations?.[APPLIED] === route.metadata.annotations[APPLIED];
  return isCurrent ? present : undefined;
}

function judgeRoute(
  { name, route }: { name: string; route: KnownRoute | undefined },
  { edge, mode }: RouteTarget,
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
  const words = describeWaiting({ mode, namespace: edge.namespace, spec: edge.spec });
  return { reason: 'NotAdmitted', message: `${called} ${words}` };
}

const HOSTS_PRINTED = 4;

export function print(hosts: readonly string[]): string {
  return printSome(hosts, HOSTS_PRINTED);
}
