/**
 * Writes what was decided for the objects of an installation, by server-side apply, and only where one is not as it was
 * rendered. What somebody else made under such a name is left alone, and said.
 */
import { findDifference } from '../image-service/find-difference.ts';
import { APPLIED, digest, type RenderedObject } from '../image-service/render/object.ts';
import type { Step } from '../image-service/steps.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Answer, type FailureReason, KubeFailure, unwrap } from '../kube/kube-failure.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { GatewayRef } from '../routes/edge.ts';
import { admissionOf } from '../routes/live-route.ts';
import { type Became, createBecame } from './became.ts';
import { typeOf } from './live-types.ts';
import { type LiveObjects, liveKey } from './observe.ts';

const OWNER = 'tintype/image-service';
export type Written = {
  change: 'create' | 'update' | 'delete';
  kind: string;
  name: string;
  /** It had been written like this before, and somebody else changed it since. */
  isHealing?: true;
};

/** What stood in the way of an object. */
export type Trouble = {
  kind: string;
  name: string;
  reason: 'ObjectTaken' | 'ObjectRefused' | 'GatewayAPIMissing';
  message: string;
};

export type Deeds = { written: Written[]; troubles: Trouble[] };

/** Whatever is refused, the others are written; nothing is taken away meanwhile, as it may do what was refused. */
export async function carryOut(
  client: KubeClient,
  steps: readonly Step[],
  { live, became = createBecame() }: { live: LiveObjects; became?: Became | undefined },
): Promise<Deeds> {
  const deeds: Deeds = { written: [], troubles: [] };
  for (const step of steps) {
    if (step.do === 'delete' && deeds.troubles.length > 0) continue;
    await take(client, step, { live, became, deeds });
  }
  return deeds;
}

/** What a step would write, and where a live object differs. */
export type Planned = Written & { path?: string };

export function planSteps(steps: readonly Step[], live: LiveObjects): Planned[] {
  return steps.flatMap((step): Planned[] => {
    if (step.do === 'delete') {
      const isAwaited = step.after !== undefined && !isServed(step.after, live);
      const { kind, name } = step.object;
      return isAwaited ? [] : [{ change: 'delete', kind, name }];
    }
    const wanted = withDigest(step.object);
    const present = findLive(live, wanted);
    if (present === undefined) return [{ change: 'create', ...kindAndName(wanted) }];
    const path = step.do === 'create' ? undefined : explain(wanted, present);
    if (path === undefined) return [];
    const isHealing = appliedTo(present) === appliedTo(wanted);
    return [{ change: 'update', ...kindAndName(wanted), path, ...(isHealing && { isHealing }) }];
  });
}

/** By what was declared, where that is it: our own marks are digests, which tell nobody anything. */
function explain(wanted: RenderedObject, present: KubeObject): string | undefined {
  return findDifference(withoutMarks(wanted), present) ?? findDifference(wanted, present);
}

function withoutMarks(object: object): object {
  const isTelling = (name: string, value: unknown) =>
    name.startsWith('tintype.dev/') ? undefined : value;
  return JSON.parse(JSON.stringify(object, isTelling)) as object;
}

/** What was admitted before it was as it is rendered now is no answer. */
function isServed(route: RenderedObject, live: LiveObjects): boolean {
  const object = findLive(live, route);
  if (object === undefined || findDifference(withDigest(route), object) !== undefined) return false;
  const mode = route.kind === 'Ingress' ? 'Ingress' : 'Gateway';
  const { parentRefs = [] } = route['spec'] as { parentRefs?: GatewayRef[] };
  return admissionOf({ mode, object }, parentRefs[0]).state === 'admitted';
}

type Doing = { live: LiveObjects; became: Became; deeds: Deeds };

async function take(client: KubeClient, step: Step, { live, became, deeds }: Doing): Promise<void> {
  const [planned] = planSteps([step], live);
  if (planned === undefined) return;
  const { path: _, ...written } = planned;
  if (step.do === 'delete') {
    note(deeds, written, await remove(client, step.object, live));
    return;
  }
  const wanted = withDigest(step.object);
  const present = findLive(live, wanted);
  if (present !== undefined && became.isSo(wanted, present)) return;
  const answer = await write(client, wanted, present);
  if (answer.ok) became.note(wanted, answer.value);
  note(deeds, written, answer);
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
  // What somebody added is theirs by the rules of apply, and stays: lists are written as a whole, nulls as what goes.
  return client.merge(type, object.metadata, { body: { spec: object['spec'] } });
}

/** What has to be absent is not declared. */
function withoutNulls<Declared extends object>(declared: Declared): Declared {
  const isKept = (_name: string, value: unknown) => (value === null ? undefined : value);
  return JSON.parse(JSON.stringify(declared, isKept)) as Declared;
}

/**
 * An object of that name without our labels. By our reference it is ours, whoever took the labels; else to apply would
 * mix two into one.
 */
async function findUnlisted(
  client: KubeClient,
  object: RenderedObject,
): Promise<Answer<KubeObject | undefined>> {
  const { name, namespace, ownerReferences } = object.metadata;
  const answer = await client.get(typeOf(object), { name, namespace });
  if (!answer.ok) {
    // Whether somebody has it has to be known, not only guessed.
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
  live: LiveObjects,
): Promise<Answer<undefined>> {
  const { metadata } = live.get(liveKey({ kind, name })) ?? {};
  if (metadata === undefined) return { ok: true, value: undefined };
  const place = { name, namespace: metadata.namespace };
  return client.delete(typeOf({ kind }), place, { uid: metadata.uid });
}

function withDigest(object: RenderedObject): RenderedObject {
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [APPLIED]: digest(object) };
  return { ...object, metadata: { ...metadata, annotations } };
}

type Annotated = { metadata: { annotations?: Readonly<Record<string, string>> } };

function appliedTo({ metadata }: Annotated): string | undefined {
  return metadata.annotations?.[APPLIED];
}

function findLive(live: LiveObjects, { kind, metadata }: RenderedObject): KubeObject | undefined {
  return live.get(liveKey({ kind, name: metadata.name }));
}

function kindAndName({ kind, metadata }: RenderedObject) {
  return { kind, name: metadata.name };
}

/** What the server does not take of an object; whatever else fails, fails the pass. */
const REFUSALS: readonly FailureReason[] = [
  'Forbidden',
  'Invalid',
  'BadRequest',
  'NotFound',
  'Refused',
  'Unavailable',
];

/** A webhook that does not answer is one object's; else the server is away for a moment, and the pass is taken again. */
function troubleOf({ kind, name }: Written, failure: KubeFailure): Trouble {
  const what = `${kind} '${name}'`;
  if (failure.reason === 'Conflict' || failure.reason === 'AlreadyExists') {
    const message = `${what} is there and was not made by the operator: delete it, or give the ImageService another name.`;
    return { kind, name, reason: 'ObjectTaken', message };
  }
  if (!REFUSALS.includes(failure.reason)) unwrap({ ok: false, failure });
  if (kind === 'HTTPRoute' && failure.reason === 'NotFound') {
    const message = `${what} cannot be written, as the cluster has no Gateway API: install it, or set \`spec.routing.mode\` to Ingress.`;
    return { kind, name, reason: 'GatewayAPIMissing', message };
  }
  const message = `${what} is refused by the API server: ${failure.message.replace(/\.?$/, '.')}`;
  return { kind, name, reason: 'ObjectRefused', message };
}
