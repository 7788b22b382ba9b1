/**
 * What must change so that the keys of a project rotate as its SigningKey resource declares. Pure. Spec: Signing key.
 */
import { DAY_MS } from '../../runtime/core/durations.ts';
import { SIGNING_KEYS_VERIFYING_MAX } from '../../runtime/core/limits.ts';
import { claimOn } from '../claim.ts';
import { changeNothing, conditionsFor } from '../conditions.ts';
import type { Subject } from '../declared.ts';
import type { Decision } from '../reconcile.ts';
import type { SigningKeyRows } from './gather.ts';
import type { SigningKeySpec } from './schema.ts';

/**
 * `issue` heals a project without an active key; `rotate` retires the active one. A first key,
 * which came with its project, is claimed; a key that was rotated to before any resource declared
 * it is adopted.
 */
export type SigningKeyChange =
  | { change: 'issue'; project_id: string; rotation_trigger: string | null }
  | { change: 'claim' | 'adopt'; kid: string; rotation_trigger: string | null }
  | { change: 'rotate'; project_id: string; rotation_trigger: string | null }
  | { change: 'release'; kid: string; rotation_trigger: string | null };

export function decideSigningKey(
  subject: Subject<SigningKeySpec>,
  rows: SigningKeyRows,
  now: Date,
): Decision<SigningKeyChange> {
  if (subject.action === 'delete') return decideDeletion(rows);
  const { identity, spec } = subject;
  const { project, key, owned } = rows;
  const trigger = spec.rotationTrigger ?? null;
  if (project === undefined) {
    const message = `there is no Project '${spec.projectRef.name}' yet`;
    return changeNothing('ProjectNotFound', message);
  }
  if (owned !== undefined && owned.project_id !== project.project_id) {
    const message =
      'it manages the keys of another project: set projectRef back, or declare a new SigningKey instead';
    return changeNothing('ProjectImmutable', message);
  }
  const conditions = conditionsFor('InSync', 'the signing key is as declared');
  const { project_id } = project;
  if (key === undefined) {
    return { changes: [{ change: 'issue', project_id, rotation_trigger: trigger }], conditions };
  }
  const claim = claimOn(key, identity);
  if (claim === 'other') {
    const message = `the SigningKey '${key.owner_name}' manages the keys of this project: delete one of the two`;
    return changeNothing('SigningKeyTaken', message);
  }
  // Taking over is no rotation: the first trigger is only recorded.
  const known = claim === 'mine' ? key.rotation_trigger : (key.rotation_trigger ?? trigger);
  const change = claim === 'unowned' && rows.has_predecessor ? 'adopt' : 'claim';
  const taking: SigningKeyChange[] =
    claim === 'mine' ? [] : [{ change, kid: key.kid, rotation_trigger: known }];
  const isTriggered = trigger !== null && trigger !== known;
  if (!isTriggered && !isOld(key.created_at, spec.rotationDays, now))
    return { changes: taking, conditions };
  const { count, seconds } = rows.verifying;
  if (count >= SIGNING_KEYS_VERIFYING_MAX) {
    const message = `${count} keys of the project still verify, which is the maximum: the key rotates when one has retired, in ${Math.ceil(seconds / 3600)} hours or less`;
    return { changes: taking, conditions: conditionsFor('TooManyKeys', message) };
  }
  const rotation_trigger = trigger ?? known;
  return { changes: [...taking, { change: 'rotate', project_id, rotation_trigger }], conditions };
}

function isOld(createdAt: Date, days: number | undefined, now: Date): boolean {
  return days !== undefined && createdAt.getTime() + days * DAY_MS <= now.getTime();
}

function decideDeletion({ owned }: SigningKeyRows): Decision<SigningKeyChange> {
  const conditions = conditionsFor('Deleted', 'the key stays, and is no longer rotated');
  return owned === undefined
    ? { changes: [], conditions }
    : {
        changes: [{ change: 'release', kid: owned.kid, rotation_trigger: owned.rotation_trigger }],
        conditions,
      };
}
