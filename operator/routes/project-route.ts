/**
 * One project's routes: gathered from its row, its resource and the caches, decided, written, and reported in the
 * condition Routed, which has its own field manager. Spec: Project (custom_domains, status).
 */

import { oncePerObject } from '../../runtime/core/once-per-object.ts';
import type { Queryable } from '../../runtime/db/client.ts';
import { findRoutedProject, type RoutedProjectRow } from '../../runtime/db/routed-projects.ts';
import { directiveOf } from '../cluster/directives.ts';
import type { ObjectCaches, TenantPlace } from '../cluster/object-caches.ts';
import { isBeingDeleted, type TenantObject } from '../cluster/tenant-object.ts';
import type { Condition } from '../conditions.ts';
import type { WriteHistory } from '../installation/write-history.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventRecorder } from '../kube/events.ts';
import { findCondition } from '../kube/live-condition.ts';
import { keyOf } from '../kube/resource.ts';
import type { TimedClock } from '../kube/timed-clock.ts';
import { projectSpec } from '../project/schema.ts';
import { applyRoute, type RouteApplyResult } from './apply.ts';
import { type DeclaredRouting, decideRoute, print, type RouteDecision } from './decide.ts';
import type { EdgeCaches } from './edge-caches.ts';
import { addressesOf, findSilentHost, type ProbeHost } from './probe-hosts.ts';
import { reportToProject } from './report-to-project.ts';
import { conditionOf, type Verdict } from './verdict.ts';

export type RouteContext = {
  client: KubeClient;
  db: Queryable;
  clock: TimedClock;
  caches: ObjectCaches;
  edges: EdgeCaches;
  probe: ProbeHost;
  events: Pick<EventRecorder, 'record'>;
  /** About the routes that this term wrote. */
  history: WriteHistory;
  /** What this process last wrote to the condition Routed, by the uid of the Project. */
  reportedConditions: Map<string, Condition>;
};

/** A project, its resource, or both; for a deleted project only its slug. */
export type RouteSubject = {
  slug: string | undefined;
  project: RoutedProjectRow | undefined;
  object: TenantObject | undefined;
};

/** Finds it by the key of a Project resource, or by the slug of a project. */
export async function findSubject(
  key: string,
  { db, caches }: RouteContext,
): Promise<RouteSubject> {
  if (key.includes('/')) {
    const object = caches.get('Project', key);
    const project = object && (await findRoutedProject(db, { owner_uid: object.metadata.uid }));
    return { slug: project?.project_slug, project, object };
  }
  const project = await findRoutedProject(db, { project_slug: key });
  return { slug: key, project, object: project && ownerOf(project, caches) };
}

/** The resource that declares a project now. */
export function ownerOf(project: RoutedProjectRow, caches: ObjectCaches): TenantObject | undefined {
  const place = placeOfOwner(project);
  const object = place && caches.get('Project', keyOf(place));
  return object?.metadata.uid === project.owner_uid ? object : undefined;
}

/** Undefined for a project that no resource declares. */
function placeOfOwner(row: RoutedProjectRow): TenantPlace | undefined {
  const { owner_uid, owner_namespace: namespace, owner_name: name } = row;
  return owner_uid === null || namespace === null || name === null
    ? undefined
    : { namespace, name };
}

/**
 * An annotation asks for it; or its resource is in a namespace that another operator watches, or
 * that this one may not read.
 */
export function shouldSkip(
  { object, project }: RouteSubject,
  { caches }: Pick<RouteContext, 'caches'>,
): boolean {
  if (object !== undefined) return directiveOf(object) !== undefined;
  const owner = project && placeOfOwner(project);
  if (owner === undefined) return false;
  return !caches.watches(owner.namespace) || !caches.isListed(owner.namespace);
}

/** A pass has compared its rows: they come before its routes. */
export function hasSyncedCondition({ status }: TenantObject): boolean {
  return findCondition(status, 'Synced') !== undefined;
}

/** What would be written, by the caches alone. */
export function planRoute(
  { slug, project, object }: RouteSubject,
  { edges, history }: Pick<RouteContext, 'edges'> & Partial<Pick<RouteContext, 'history'>>,
): RouteDecision {
  const edge = edges.find();
  return decideRoute({
    project,
    declared: object && declaredRouting(object),
    edge,
    live: slug === undefined ? [] : edges.routesOf(slug),
    wildcard: edges.wildcard(edge),
    ...history,
  });
}

/** The condition Routed, if it takes no write and no probe to find out. */
export function judgeFromCaches(
  subject: RouteSubject,
  context: Pick<RouteContext, 'caches' | 'edges' | 'history' | 'reportedConditions'>,
): Condition | undefined {
  const { object } = subject;
  if (object === undefined || isBeingDeleted(object) || shouldSkip(subject, context))
    return undefined;
  if (declaredRouting(object).probe === 'Enabled') return undefined;
  const { steps, verdict, mutated } = planRoute(subject, context);
  if (steps.length > 0) return undefined;
  const condition = conditionOf(verdict, mutated);
  context.reportedConditions.set(object.metadata.uid, condition);
  return condition;
}

/** Defaults for an invalid spec: its rows were not accepted either. */
export const declaredRouting = oncePerObject(({ spec = {} }: TenantObject): DeclaredRouting => {
  const { routing, staff } = projectSpec.safeParse(spec).data ?? {};
  return {
    perProject: routing?.perProject ?? 'CustomDomainsOnly',
    probe: routing?.probe ?? 'Disabled',
    customDomains: staff?.customDomains,
  };
});

/** `newMutations`: changed on admission just now. */
export type RoutePass = Pick<RouteApplyResult, 'retry_after_ms'> & {
  condition: Condition & Verdict;
  newMutations: RouteApplyResult['mutated'];
};

/** Undefined if the resource is to be left alone. */
export async function routeProject(
  found: RouteSubject,
  { edges, ...rest }: RouteContext,
  signal: AbortSignal,
): Promise<RoutePass | undefined> {
  if (shouldSkip(found, rest)) return undefined;
  const known = await confirmed(found, { ...rest, edges });
  const { subject, decision } = known;
  if (shouldSkip(subject, rest)) return undefined;
  const context = { ...rest, edges: known.edges };
  const result = await applyRoute(context.client, decision.steps, rest.history);
  const { problem, mutated: newMutations, ...when } = result;
  const verdict = problem ?? (await probed(subject, decision, { context, signal }));
  const pass = {
    ...when,
    newMutations,
    condition: conditionOf(verdict, [...decision.mutated, ...newMutations]),
  };
  if (subject.object !== undefined) await reportToProject(subject.object, pass, context);
  return pass;
}

type Known = { subject: RouteSubject; edges: EdgeCaches; decision: RouteDecision };

/**
 * Asks the API server for the resource and the ImageService before a route is deleted, and when the
 * row's owner is missing from the cache: a new leader's caches may lack what the previous one made
 * the routes for.
 */
async function confirmed(
  subject: RouteSubject,
  { edges, caches, history }: Pick<RouteContext, 'edges' | 'caches' | 'history'>,
): Promise<Known> {
  const { project, object } = subject;
  const decision = planRoute(subject, { edges, history });
  const { steps } = decision;
  const owner = project && placeOfOwner(project);
  const isUncached = owner !== undefined && object === undefined && steps.length > 0;
  const isTaking = steps.some((step) => step.do === 'delete');
  // The rows alone decide.
  if (project === undefined || !(isUncached || isTaking)) return { subject, edges, decision };
  const [live, found] = await Promise.all([
    owner && caches.findNow('Project', owner),
    edges.findNow(),
  ]);
  const isOwner = live?.metadata.uid === project.owner_uid;
  const seen = {
    subject: { ...subject, object: isOwner ? live : undefined },
    edges: { ...edges, find: () => found },
  };
  return { ...seen, decision: planRoute(seen.subject, { ...seen, history }) };
}

type Probing = { context: RouteContext; signal: AbortSignal };

async function probed(
  { object }: RouteSubject,
  { verdict, hosts }: RouteDecision,
  { context, signal }: Probing,
): Promise<Verdict> {
  const found = context.edges.find();
  const isAsked = object !== undefined && declaredRouting(object).probe === 'Enabled';
  const isOut = verdict.reason !== 'Routed' && verdict.reason !== 'RoutedByOthers';
  if (!isAsked || isOut || !('edge' in found)) return verdict;
  const addresses = addressesOf(found.edge, hosts);
  const silent = await findSilentHost(addresses, { probe: context.probe, signal });
  if (silent === undefined) {
    return { reason: 'Answering', message: `delivery answers at ${print(hosts)}` };
  }
  const message = `delivery does not answer at ${silent.host} (${silent.why}): check its DNS and certificate`;
  return { reason: 'NotAnswering', message };
}
