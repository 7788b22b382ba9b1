/**
 * Writes the decided objects of an installation by server-side apply, and only where an object differs from its
 * rendered form. An object of the same name that somebody else made is left alone, and reported.
 */
import { explainDifferences, findDifference } from '../image-service/find-difference.ts';
import { APPLIED, digest, type RenderedObject } from '../image-service/render/object.ts';
import type { Step } from '../image-service/steps.ts';
import type { KubeClient } from '../kube/client.ts';
import { findLastWriter } from '../kube/find-last-writer.ts';
import { type Answer, KubeFailure } from '../kube/kube-failure.ts';
import type { KubeObject } from '../kube/resource.ts';
import { findActiveRevert, revertKeys } from '../kube/reverted-writes.ts';
import type { GatewayRef } from '../routes/edge.ts';
import { admissionOf } from '../routes/live-route.ts';
import { hasSameContent } from './admission-mutations.ts';
import { typeOf } from './live-types.ts';
import type { MutatedObject } from './mutated-object.ts';
import { describeFailure, describeRevert, type ObjectProblem } from './object-problem.ts';
import { type LiveObjects, liveKey } from './observe.ts';
import type { WriteHistory } from './write-history.ts';

const OWNER = 'tintype/image-service';
export type ObjectChange = {
  change: 'create' | 'update' | 'delete';
  kind: string;
  name: string;
  /** Where the live object differs. */
  path?: string;
  /** The operator had written the same before, and somebody has changed it since. */
  isDrift?: true;
  /** Who changed it, if recorded. */
  by?: string;
};

export type ApplyResult = {
  written: ObjectChange[];
  problems: ObjectProblem[];
  mutated: MutatedObject[];
  /** When the first paused write may run. */
  retry_after_ms?: number;
};

/**
 * A refusal does not stop the other writes; meanwhile nothing is deleted, as it may do the work of
 * what was refused.
 */
export async function applySteps(
  client: KubeClient,
  steps: readonly Step[],
  { live, history }: { live: LiveObjects; history: WriteHistory },
): Promise<ApplyResult> {
  const result: ApplyResult = { written: [], problems: [], mutated: [] };
  for (const step of steps) {
    // An object that somebody keeps changing back was accepted, and works apart from that.
    const isBlocked = result.problems.some(({ reason }) => reason !== 'ObjectUndone');
    if (step.do === 'delete' && isBlocked) continue;
    await applyStep(client, step, { live, history, result });
  }
  return result;
}

/** What a step would write. */
export function planSteps(steps: readonly Step[], live: LiveObjects): ObjectChange[] {
  return steps.flatMap((step): ObjectChange[] => {
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
    const isDrift = appliedTo(present) === appliedTo(wanted);
    const by = isDrift ? findLastWriter(present, path) : undefined;
    const drift = { ...(isDrift && { isDrift }), ...(by !== undefined && { by }) };
    return [{ change: 'update', ...kindAndName(wanted), path, ...drift }];
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

type StepContext = { live: LiveObjects; history: WriteHistory; result: ApplyResult };

async function applyStep(client: KubeClient, step: Step, context: StepContext): Promise<void> {
  const { live, result } = context;
  const [planned] = planSteps([step], live);
  if (step.do !== 'delete') {
    const wanted = withDigest(step.object);
    if (planned === undefined) recordInSync(wanted, context);
    else await applyObject(client, { wanted, planned }, context);
  } else if (planned !== undefined) {
    record(result, planned, await remove(client, step.object, context));
  }
}

function recordInSync(
  { kind, metadata }: RenderedObject,
  { history: { reverts }, result }: StepContext,
): void {
  const keys = revertKeys(kind, metadata);
  reverts.recordInSync(keys.changed);
  const held = findActiveRevert(reverts, keys);
  if (held === undefined) return;
  const { message, retry_after_ms } = held;
  result.problems.push({ kind, name: metadata.name, reason: 'ObjectUndone', message });
  result.retry_after_ms = Math.min(retry_after_ms, result.retry_after_ms ?? Infinity);
}

type PlannedObject = { wanted: RenderedObject; planned: ObjectChange };

async function applyObject(
  client: KubeClient,
  { wanted, planned }: PlannedObject,
  { live, history, result }: StepContext,
): Promise<void> {
  const { mutations, reverts } = history;
  const { changed, deleted } = revertKeys(wanted.kind, wanted.metadata);
  const present = findLive(live, wanted);
  const known = present && mutations.find(wanted, present);
  if (known !== undefined) {
    reverts.recordInSync(changed);
    result.mutated.push({ ...kindAndName(wanted), paths: known, since: 'before' });
    return;
  }
  const applied = appliedTo(wanted);
  const key = present ? changed : deleted;
  const { retry_after_ms, isRepeated } = reverts.recordRevert(key, applied);
  if (isRepeated) {
    const problem = describeRevert(planned);
    reverts.setMessage(key, problem.message);
    result.problems.push(problem);
  }
  if (retry_after_ms > 0) {
    result.retry_after_ms = Math.min(retry_after_ms, result.retry_after_ms ?? Infinity);
    return;
  }
  const answer = await write(client, wanted, present);
  const isUnchanged = answer.ok && present !== undefined && hasSameContent(present, answer.value);
  if (!isUnchanged) record(result, planned, answer);
  if (!answer.ok) return;
  if (present === undefined) reverts.recordWrite(deleted, applied);
  // The only difference is what a policy makes of it: nobody undid the write. Others changed their
  // own fields, as a scaler does.
  if (isUnchanged) reverts.forget(changed);
  else reverts.recordWrite(changed, applied);
  const paths = mutations.record(wanted, answer.value);
  if (paths.length > 0) result.mutated.push({ ...kindAndName(wanted), paths, since: 'tried' });
}

function record(result: ApplyResult, written: ObjectChange, answer: Answer<unknown>): void {
  if (answer.ok) result.written.push(written);
  else result.problems.push(describeFailure(written, answer.failure));
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
  { live, history: { reverts } }: StepContext,
): Promise<Answer<undefined>> {
  const { metadata } = live.get(liveKey({ kind, name })) ?? {};
  if (metadata === undefined) return { ok: true, value: undefined };
  Object.values(revertKeys(kind, metadata)).forEach(reverts.forget);
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
