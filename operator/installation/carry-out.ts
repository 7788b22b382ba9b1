/**
 * Writes the decided objects of an installation by server-side apply, and only where an object differs from its
 * rendered form. An object of the same name that somebody else made is left alone, and reported.
 */
import { explainDifferences, findDifference } from '../image-service/find-difference.ts';
import { APPLIED, digest, type RenderedObject } from '../image-service/render/object.ts';
import type { Step } from '../image-service/steps.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Answer, KubeFailure } from '../kube/kube-failure.ts';
import { heldOf, quarrelKeys } from '../kube/quarrels.ts';
import type { KubeObject } from '../kube/resource.ts';
import { whoWrote } from '../kube/who-wrote.ts';
import type { GatewayRef } from '../routes/edge.ts';
import { admissionOf } from '../routes/live-route.ts';
import type { Altered } from './altered.ts';
import { isAsBefore } from './became.ts';
import { typeOf } from './live-types.ts';
import { sayUndone, type Trouble, troubleOf } from './object-trouble.ts';
import { type LiveObjects, liveKey } from './observe.ts';
import type { WritingMemory } from './writing-memory.ts';

const OWNER = 'tintype/image-service';
export type Written = {
  change: 'create' | 'update' | 'delete';
  kind: string;
  name: string;
  /** Where the live object differs. */
  path?: string;
  /** The operator had written the same before, and somebody has changed it since. */
  isHealing?: true;
  /** Who changed it, if recorded. */
  by?: string;
};

export type Deeds = {
  written: Written[];
  troubles: Trouble[];
  altered: Altered[];
  /** When the first paused write may run. */
  rest_ms?: number;
};

/**
 * A refusal does not stop the other writes; meanwhile nothing is deleted, as it may do the work of
 * what was refused.
 */
export async function carryOut(
  client: KubeClient,
  steps: readonly Step[],
  { live, memory }: { live: LiveObjects; memory: WritingMemory },
): Promise<Deeds> {
  const deeds: Deeds = { written: [], troubles: [], altered: [] };
  for (const step of steps) {
    // An object that somebody keeps changing back was accepted, and works apart from that.
    const isInTheWay = deeds.troubles.some(({ reason }) => reason !== 'ObjectUndone');
    if (step.do === 'delete' && isInTheWay) continue;
    await take(client, step, { live, memory, deeds });
  }
  return deeds;
}

/** What a step would write. */
export function planSteps(steps: readonly Step[], live: LiveObjects): Written[] {
  return steps.flatMap((step): Written[] => {
    if (step.do === 'delete') {
      const isAwaited = step.after !== undefined && !isServed(step.after, live);
      const { kind, name } = step.object;
      return isAwaited ? [] : [{ change: 'delete', kind, name }];
    }
    const wanted = withDigest(step.object);
    const present = findLive(live, wanted);
    if (present === undefined) return [{ change: 'create', ...kindAndName(wanted) }];
    const [path] = step.do === 'create' ? [] : explainDifferences(wanted, present);
    if (path === undefined) return [];
    const isHealing = appliedTo(present) === appliedTo(wanted);
    const by = isHealing ? whoWrote(present, path) : undefined;
    const healing = { ...(isHealing && { isHealing }), ...(by !== undefined && { by }) };
    return [{ change: 'update', ...kindAndName(wanted), path, ...healing }];
  });
}

/** A route admitted before its latest change does not count yet. */
function isServed(route: RenderedObject, live: LiveObjects): boolean {
  const object = findLive(live, route);
  if (object === undefined || findDifference(withDigest(route), object) !== undefined) return false;
  const mode = route.kind === 'Ingress' ? 'Ingress' : 'Gateway';
  const { parentRefs = [] } = route['spec'] as { parentRefs?: GatewayRef[] };
  return admissionOf({ mode, object }, parentRefs[0]).state === 'admitted';
}

type Doing = { live: LiveObjects; memory: WritingMemory; deeds: Deeds };

async function take(client: KubeClient, step: Step, doing: Doing): Promise<void> {
  const { live, deeds } = doing;
  const [planned] = planSteps([step], live);
  if (step.do !== 'delete') {
    const wanted = withDigest(step.object);
    if (planned === undefined) settle(wanted, doing);
    else await makeAsWanted(client, { wanted, planned }, doing);
  } else if (planned !== undefined) {
    note(deeds, planned, await remove(client, step.object, doing));
  }
}

function settle({ kind, metadata }: RenderedObject, { memory: { quarrels }, deeds }: Doing): void {
  const keys = quarrelKeys(kind, metadata);
  quarrels.settled(keys.changed);
  const held = heldOf(quarrels, keys);
  if (held === undefined) return;
  const { words: message, rest_ms } = held;
  deeds.troubles.push({ kind, name: metadata.name, reason: 'ObjectUndone', message });
  deeds.rest_ms = Math.min(rest_ms, deeds.rest_ms ?? Infinity);
}

type Making = { wanted: RenderedObject; planned: Written };

async function makeAsWanted(
  client: KubeClient,
  { wanted, planned }: Making,
  { live, memory, deeds }: Doing,
): Promise<void> {
  const { became, quarrels } = memory;
  const { changed, deleted } = quarrelKeys(wanted.kind, wanted.metadata);
  const present = findLive(live, wanted);
  const known = present && became.find(wanted, present);
  if (known !== undefined) {
    quarrels.settled(changed);
    deeds.altered.push({ ...kindAndName(wanted), paths: known, since: 'before' });
    return;
  }
  const applied = appliedTo(wanted);
  const key = present ? changed : deleted;
  const { rest_ms, isQuarrel } = quarrels.undone(key, applied);
  if (isQuarrel) {
    const trouble = sayUndone(planned);
    quarrels.say(key, trouble.message);
    deeds.troubles.push(trouble);
  }
  if (rest_ms > 0) {
    deeds.rest_ms = Math.min(rest_ms, deeds.rest_ms ?? Infinity);
    return;
  }
  const answer = await write(client, wanted, present);
  const isUnchanged = answer.ok && present !== undefined && isAsBefore(present, answer.value);
  if (!isUnchanged) note(deeds, planned, answer);
  if (!answer.ok) return;
  if (present === undefined) quarrels.wrote(deleted, applied);
  // The only difference is what a policy makes of it: nobody undid the write. Others changed their
  // own fields, as a scaler does.
  if (isUnchanged) quarrels.forget(changed);
  else quarrels.wrote(changed, applied);
  const paths = became.note(wanted, answer.value);
  if (paths.length > 0) deeds.altered.push({ ...kindAndName(wanted), paths, since: 'tried' });
}

function note(deeds: Deeds, written: Written, answer: Answer<unknown>): void {
  if (answer.ok) deeds.written.push(written);
  else deeds.troubles.push(troubleOf(written, answer.failure));
}

async function write(
  client: KubeClient,
  wanted: RenderedObject,
  present: KubeObject | undefined,
): Promise<Answer<KubeObject>> {
  const { apiVersion: _, kind: __, ...object } = wanted;
  const type = typeOf(wanted);
  const declared = withoutNulls(object);
  if (present === undefined) {
    const unlisted = await findUnlisted(client, wanted);
    if (!unlisted.ok) return unlisted;
    const isFree = unlisted.value === undefined;
    if (isFree) return client.apply(type, declared, { owner: OWNER, conflicts: 'refuse' });
  }
  const applied = await client.apply(type, declared, { owner: OWNER });
  if (!applied.ok || findDifference(object, applied.value) === undefined) return applied;
  // By the rules of apply, fields that somebody added stay theirs: the merge replaces whole lists,
  // and nulls delete.
  return client.merge(type, object.metadata, { body: { spec: object['spec'] } });
}

/** Fields that must be absent are not declared. */
function withoutNulls<Declared extends object>(declared: Declared): Declared {
  const isKept = (_name: string, value: unknown) => (value === null ? undefined : value);
  return JSON.parse(JSON.stringify(declared, isKept)) as Declared;
}

/**
 * An object of that name without our labels. Our owner reference makes it ours, even if somebody
 * removed the labels; otherwise applying would mix two objects into one.
 */
async function findUnlisted(
  client: KubeClient,
  object: RenderedObject,
): Promise<Answer<KubeObject | undefined>> {
  const { name, namespace, ownerReferences } = object.metadata;
  const answer = await client.get(typeOf(object), { name, namespace });
  if (!answer.ok) {
    // Whether the name is taken must be known for certain.
    return answer.failure.reason === 'NotFound' ? { ok: true, value: undefined } : answer;
  }
  const found = answer.value.metadata.ownerReferences ?? [];
  const isOurs = found.some(({ uid }) => uid === ownerReferences[0]?.uid);
  if (isOurs) return answer;
  return { ok: false, failure: new KubeFailure({ reason: 'AlreadyExists', message: name }) };
}

async function remove(
  client: KubeClient,
  { kind, name }: { kind: string; name: string },
  { live, memory: { quarrels } }: Doing,
): Promise<Answer<undefined>> {
  const { metadata } = live.get(liveKey({ kind, name })) ?? {};
  if (metadata === undefined) return { ok: true, value: undefined };
  Object.values(quarrelKeys(kind, metadata)).forEach(quarrels.forget);
  const place = { name, namespace: metadata.namespace };
  return client.delete(typeOf({ kind }), place, { uid: metadata.uid });
}

function withDigest(object: RenderedObject): RenderedObject {
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [APPLIED]: digest(object) };
  return { ...object, metadata: { ...metadata, annotations } };
}

type Annotated = { metadata: { annotations?: Readonly<Record<string, string>> } };

function appliedTo({ metadata }: Annotated): string {
  return metadata.annotations?.[APPLIED] ?? '';
}

function findLive(live: LiveObjects, { kind, metadata }: RenderedObject): KubeObject | undefined {
  return live.get(liveKey({ kind, name: metadata.name }));
}

function kindAndName({ kind, metadata }: RenderedObject) {
  return { kind, name: metadata.name };
}
