/**
 * Writes the decided routes of a project by server-side apply: fields that others added to a route stay theirs, and an
 * object of somebody else is never taken over. A route that somebody keeps changing back is left alone for a while
 * before the next write.
 */
import { APPLIED } from '../image-service/render/object.ts';
import { hasSameContent } from '../installation/admission-mutations.ts';
import type { MutatedObject } from '../installation/mutated-object.ts';
import type { WriteHistory } from '../installation/write-history.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Answer, unwrap } from '../kube/kube-failure.ts';
import { type KubeObject, withManagers } from '../kube/resource.ts';
import { revertKeys } from '../kube/reverted-writes.ts';
import type { RouteStep } from './decide.ts';
import { describeRefusal, describeRevert } from './describe-problem.ts';
import { declaredOf, isAsRendered } from './deviation.ts';
import { isManagedByOperator, routeTypes } from './live-route.ts';
import type { RenderedRoute } from './render.ts';
import type { Verdict } from './verdict.ts';

const ROUTE_OWNER = 'tintype/route';

export type RouteApplyResult = {
  /** The first problem, if any. */
  problem: Verdict | undefined;
  /** Routes just written that the cluster changed on admission. */
  mutated: MutatedObject[];
  /** When the first paused write may run. */
  retry_after_ms?: number;
};

type ApplyContext = {
  client: KubeClient;
  history: WriteHistory;
  done: Omit<RouteApplyResult, 'problem'> & {
    refused: Verdict[];
    undone: Verdict[];
    /** Whether a deleted route has not been written again yet. */
    isMissing: boolean;
  };
};

/** A route is deleted only when all others exist, even if somebody keeps changing them. */
export async function applyRoute(
  client: KubeClient,
  steps: readonly RouteStep[],
  history: WriteHistory,
): Promise<RouteApplyResult> {
  const done: ApplyContext['done'] = { mutated: [], refused: [], undone: [], isMissing: false };
  for (const step of steps) {
    if (step.do === 'apply') await applyOne(step, { client, history, done });
  }
  const { refused, undone, isMissing, ...rest } = done;
  const isBlocked = isMissing || refused.length > 0;
  for (const step of isBlocked ? [] : steps) {
    if (step.do === 'delete') await remove(step, { client, history, done });
  }
  return { ...rest, problem: [...refused, ...undone][0] };
}

type Applying = Extract<RouteStep, { do: 'apply' }>;

async function applyOne(step: Applying, context: ApplyContext): Promise<void> {
  const { client, history, done } = context;
  const { route } = step;
  const { changed, deleted } = revertKeys(route.mode, route.metadata);
  const applied = route.metadata.annotations[APPLIED] ?? '';
  const isKnown = [changed, deleted].some((key) => history.reverts.hasWritten(key, applied));
  const live = isKnown ? await getLive(client, route) : undefined;
  if (isKnown) {
    if (live !== undefined && isAsRendered(route, live, history.mutations)) {
      history.reverts.recordInSync(changed);
      return;
    }
    const key = live === undefined ? deleted : changed;
    const { retry_after_ms, isRepeated } = history.reverts.recordRevert(key, applied);
    if (isRepeated) {
      const verdict = describeRevert(route, live);
      history.reverts.setMessage(key, verdict.message);
      done.undone.push(verdict);
    }
    if (retry_after_ms > 0) {
      done.retry_after_ms = Math.min(retry_after_ms, done.retry_after_ms ?? Infinity);
      done.isMissing ||= live === undefined;
      return;
    }
  }
  await write(step, live, context);
}

/**
 * Reads the route from the API server, with who wrote what: an outdated cache must not look like a
 * reverted write.
 */
async function getLive(
  client: KubeClient,
  { mode, metadata: { name, namespace } }: RenderedRoute,
): Promise<KubeObject | undefined> {
  // Uses a list, which every watcher may request.
  const query = { namespace, fields: `metadata.name=${name}`, limit: 0 };
  const answer = await client.listPage(withManagers(routeTypes[mode]), query);
  if (!answer.ok && answer.failure.reason === 'NotFound') return undefined;
  return unwrap(answer).items[0];
}

async function write(
  step: Applying,
  live: KubeObject | undefined,
  { client, history: { mutations, reverts }, done }: ApplyContext,
): Promise<void> {
  const { route, to } = step;
  const { mode, metadata } = route;
  const { answer, isOurs } = await put(step, live, client);
  if (!answer.ok) {
    done.refused.push(describeRefusal(route, { failure: answer.failure, isOurs }));
    return;
  }
  const applied = metadata.annotations[APPLIED] ?? '';
  const { changed, deleted } = revertKeys(route.mode, route.metadata);
  if (to === 'new' && live === undefined) reverts.recordWrite(deleted, applied);
  // The only difference is what a policy makes of it: nobody changed it back.
  if (live !== undefined && hasSameContent(live, answer.value)) reverts.forget(changed);
  else reverts.recordWrite(changed, applied);
  const paths = mutations.record(declaredOf(route, answer.value), answer.value);
  const { kind } = routeTypes[mode];
  if (paths.length > 0) done.mutated.push({ kind, name: metadata.name, paths, since: 'tried' });
}

/** `isOurs`: it could be nobody else's. */
async function put(
  { route, to }: Applying,
  live: KubeObject | undefined,
  client: KubeClient,
): Promise<{ answer: Answer<KubeObject>; isOurs: boolean }> {
  const { mode, metadata, spec } = route;
  const apply = (conflicts: 'take' | 'refuse') =>
    client.apply(routeTypes[mode], { metadata, spec }, { owner: ROUTE_OWNER, conflicts });
  if (to === 'new' && !(live && isManagedByOperator(live))) {
    const answer = await apply('refuse');
    const isTaken = !answer.ok && answer.failure.reason === 'Conflict';
    // The cache may not show that it is ours.
    const found = isTaken ? (live ?? (await getLive(client, route))) : undefined;
    if (found === undefined || !isManagedByOperator(found)) return { answer, isOurs: false };
  }
  return { answer: await apply('take'), isOurs: true };
}

async function remove(
  { route: { mode, object } }: Extract<RouteStep, { do: 'delete' }>,
  { client, history: { reverts } }: ApplyContext,
): Promise<void> {
  const { name, namespace, uid } = object.metadata;
  Object.values(revertKeys(mode, object.metadata)).forEach(reverts.forget);
  const answer = await client.delete(routeTypes[mode], { name, namespace }, { uid });
  // By now the name belongs to another object, which is not ours to delete.
  if (!answer.ok && answer.failure.reason !== 'Conflict') throw answer.failure;
}
