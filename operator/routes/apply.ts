/**
 * Writes the decided routes of a project by server-side apply: fields that others added to a route stay theirs, and an
 * object of somebody else is never taken over. A route that somebody keeps changing back is left alone for a while
 * before the next write.
 */
import { APPLIED } from '../image-service/render/object.ts';
import type { Altered } from '../installation/altered.ts';
import { isAsBefore } from '../installation/became.ts';
import type { WritingMemory } from '../installation/writing-memory.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Answer, unwrap } from '../kube/kube-failure.ts';
import { quarrelKeys } from '../kube/quarrels.ts';
import { type KubeObject, withManagers } from '../kube/resource.ts';
import type { RouteStep } from './decide.ts';
import { declaredOf, isAsWritten } from './deviation.ts';
import { isMadeByUs, routeTypes } from './live-route.ts';
import type { RenderedRoute } from './render.ts';
import { sayRefused, sayUndone } from './say-trouble.ts';
import type { Verdict } from './verdict.ts';

const ROUTE_OWNER = 'tintype/route';

export type RouteDeeds = {
  /** The first problem, if any. */
  trouble: Verdict | undefined;
  /** Routes just written that the cluster changed on admission. */
  altered: Altered[];
  /** When the first paused write may run. */
  rest_ms?: number;
};

type Doing = {
  client: KubeClient;
  memory: WritingMemory;
  done: Omit<RouteDeeds, 'trouble'> & {
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
  memory: WritingMemory,
): Promise<RouteDeeds> {
  const done: Doing['done'] = { altered: [], refused: [], undone: [], isMissing: false };
  for (const step of steps) {
    if (step.do === 'apply') await makeAsWanted(step, { client, memory, done });
  }
  const { refused, undone, isMissing, ...rest } = done;
  const isInTheWay = isMissing || refused.length > 0;
  for (const step of isInTheWay ? [] : steps) {
    if (step.do === 'delete') await remove(step, { client, memory, done });
  }
  return { ...rest, trouble: [...refused, ...undone][0] };
}

type Applying = Extract<RouteStep, { do: 'apply' }>;

async function makeAsWanted(step: Applying, doing: Doing): Promise<void> {
  const { client, memory, done } = doing;
  const { route } = step;
  const { changed, deleted } = quarrelKeys(route.mode, route.metadata);
  const applied = route.metadata.annotations[APPLIED] ?? '';
  const isKnown = [changed, deleted].some((key) => memory.quarrels.knows(key, applied));
  const live = isKnown ? await look(client, route) : undefined;
  if (isKnown) {
    if (live !== undefined && isAsWritten(route, live, memory.became)) {
      memory.quarrels.settled(changed);
      return;
    }
    const key = live === undefined ? deleted : changed;
    const { rest_ms, isQuarrel } = memory.quarrels.undone(key, applied);
    if (isQuarrel) {
      const verdict = sayUndone(route, live);
      memory.quarrels.say(key, verdict.message);
      done.undone.push(verdict);
    }
    if (rest_ms > 0) {
      done.rest_ms = Math.min(rest_ms, done.rest_ms ?? Infinity);
      done.isMissing ||= live === undefined;
      return;
    }
  }
  await write(step, live, doing);
}

/**
 * Reads the route from the API server, with who wrote what: an outdated cache must not look like a
 * quarrel.
 */
async function look(
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
  { client, memory: { became, quarrels }, done }: Doing,
): Promise<void> {
  const { route, to } = step;
  const { mode, metadata } = route;
  const { answer, isOurs } = await put(step, live, client);
  if (!answer.ok) {
    done.refused.push(sayRefused(route, { failure: answer.failure, isOurs }));
    return;
  }
  const applied = metadata.annotations[APPLIED] ?? '';
  const { changed, deleted } = quarrelKeys(route.mode, route.metadata);
  if (to === 'new' && live === undefined) quarrels.wrote(deleted, applied);
  // The only difference is what a policy makes of it: nobody changed it back.
  if (live !== undefined && isAsBefore(live, answer.value)) quarrels.forget(changed);
  else quarrels.wrote(changed, applied);
  const paths = became.note(declaredOf(route, answer.value), answer.value);
  const { kind } = routeTypes[mode];
  if (paths.length > 0) done.altered.push({ kind, name: metadata.name, paths, since: 'tried' });
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
  if (to === 'new' && !(live && isMadeByUs(live))) {
    const answer = await apply('refuse');
    const isTaken = !answer.ok && answer.failure.reason === 'Conflict';
    // The cache may not show that it is ours.
    const found = isTaken ? (live ?? (await look(client, route))) : undefined;
    if (found === undefined || !isMadeByUs(found)) return { answer, isOurs: false };
  }
  return { answer: await apply('take'), isOurs: true };
}

async function remove(
  { route: { mode, object } }: Extract<RouteStep, { do: 'delete' }>,
  { client, memory: { quarrels } }: Doing,
): Promise<void> {
  const { name, namespace, uid } = object.metadata;
  Object.values(quarrelKeys(mode, object.metadata)).forEach(quarrels.forget);
  const answer = await client.delete(routeTypes[mode], { name, namespace }, { uid });
  // By now the name belongs to another object, which is not ours to delete.
  if (!answer.ok && answer.failure.reason !== 'Conflict') throw answer.failure;
}
