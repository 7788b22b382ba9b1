/**
 * One pass over one live resource: its rows by the reconciler of its kind, then its finalizer and its status. The
 * finalizer comes after the row is claimed, so that one that claims in vain can go without touching anything.
 * Spec: Resources and their fields.
 */
import { ZodError } from 'zod';
import { conditionsFor, type Outcome, outcomeOf } from '../conditions.ts';
import { findKind } from '../kinds.ts';
import type { KubeClient } from '../kube/client.ts';
import { unwrap } from '../kube/kube-failure.ts';
import type { Context, Result } from '../reconcile.ts';
import { writeCallbackSecret } from './callback-secret.ts';
import { readFacts } from './facts.ts';
import type { FindOrganization } from './organizations.ts';
import { statusToWrite } from './status.ts';
import {
  FINALIZER,
  isGoing,
  isHeld,
  subjectOf,
  type TenantKind,
  type TenantObject,
  typeOf,
} from './tenant-object.ts';

export type ObjectContext = Omit<Context, 'organization_id' | 'findUid' | 'writeSecret'> & {
  client: KubeClient;
  findOrganization: FindOrganization;
  /** Within the namespace of the resource; nothing for what is being deleted. */
  findObject(kind: string, place: { namespace: string; name: string }): TenantObject | undefined;
};

export type ObjectResult = { outcome: Outcome; changes: readonly string[] };

export async function reconcileObject(
  kind: TenantKind,
  object: TenantObject,
  context: ObjectContext,
): Promise<ObjectResult> {
  const { conditions, changes } = await reconcileRows(kind, object, context);
  const outcome = outcomeOf(conditions);
  if (isGoing(object) && outcome === 'done') {
    await writeFinalizer(kind, { object, wanted: 'absent' }, context);
    return { outcome, changes };
  }
  if (!isGoing(object) && isClaimed(kind, outcome)) {
    await writeFinalizer(kind, { object, wanted: 'present' }, context);
  }
  await writeStatus(kind, { object, conditions }, context);
  return { outcome, changes };
}

/** A project that waits is there already; what waits in a project is not. */
function isClaimed(kind: TenantKind, outcome: Outcome): boolean {
  return outcome === 'done' || outcome === 'held' || (outcome === 'waiting' && kind === 'Project');
}

async function reconcileRows(
  kind: TenantKind,
  object: TenantObject,
  context: ObjectContext,
): Promise<Result> {
  const reconcile = findKind(kind)?.reconcile;
  if (reconcile === undefined) throw new Error(`no reconciler for ${kind}`);
  const { namespace = '' } = object.metadata;
  let taken: string | undefined;
  try {
    const { client, findOrganization, findObject, ...rest } = context;
    const result = await reconcile(subjectOf(kind, object), {
      ...rest,
      organization_id: await findOrganization(namespace),
      findUid: (other, name) => findObject(other, { namespace, name })?.metadata.uid,
      writeSecret: async (name, value) => {
        const written = await writeCallbackSecret(client, object, { name, value });
        if (written === 'taken') taken = name;
      },
    });
    return taken === undefined ? result : { ...result, conditions: secretTaken(taken) };
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    return { changes: [], conditions: conditionsFor('SpecInvalid', printIssues(error)) };
  }
}

function secretTaken(name: string) {
  const message = `the Secret '${name}' is there and not of this resource: delete it, or set another name in \`spec.callback.secretName\``;
  return conditionsFor('SecretTaken', message);
}

function printIssues({ issues }: ZodError): string {
  const lines = issues.map(({ path, message }) => `\`${['spec', ...path].join('.')}\`: ${message}`);
  return lines.join('; ').slice(0, 4096);
}

type Finalizing = { object: TenantObject; wanted: 'present' | 'absent' };

async function writeFinalizer(
  kind: TenantKind,
  { object, wanted }: Finalizing,
  { client }: ObjectContext,
): Promise<void> {
  if (isHeld(object) === (wanted === 'present')) return;
  const { finalizers = [], resourceVersion } = object.metadata;
  const others = finalizers.filter((each) => each !== FINALIZER);
  const metadata = {
    resourceVersion,
    finalizers: wanted === 'present' ? [...others, FINALIZER] : others,
  };
  const answer = await client.merge(typeOf(kind), object.metadata, { body: { metadata } });
  const isGone = !answer.ok && answer.failure.reason === 'NotFound';
  if (!isGone) unwrap(answer);
}

async function writeStatus(
  kind: TenantKind,
  { object, conditions }: { object: TenantObject; conditions: Result['conditions'] },
  { client, db, clock, delivery_root_domain }: ObjectContext,
): Promise<void> {
  const { name, namespace = '', uid } = object.metadata;
  const facts = await readFacts(db, kind, { owner_uid: uid, delivery_root_domain });
  const status = statusToWrite(object, { conditions, facts }, clock.now());
  if (status === undefined) return;
  // With its uid: a namesake that came in between is not told of this one.
  const declared = { metadata: { name, namespace, uid }, status };
  unwrap(await client.applyStatus(typeOf(kind), declared, { owner: 'tintype/status' }));
}
