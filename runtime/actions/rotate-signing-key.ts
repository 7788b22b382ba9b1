/**
 * Creates a new key that signs a project's delivery URLs; the previous one verifies for another day. The declaring
 * resource and its last applied trigger pass to the new key. Spec: Signing key.
 */
import { ServiceError } from '../core/errors.ts';
import { SIGNING_KEY_RETIRE_HOURS, SIGNING_KEYS_VERIFYING_MAX } from '../core/limits.ts';
import type { Transaction } from '../db/client.ts';
import { lockProject } from '../db/projects.ts';
import {
  countVerifyingKeys,
  findActiveSigningKey,
  rotateSigningKey as rotateRow,
  type SigningKeyRow,
} from '../db/signing-keys.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sealing } from '../platform/sealing.ts';
import { newSigningKey } from './new-signing-key.ts';

/** Throws rate_limited if delivery hosts would have to know too many keys. */
export async function rotateSigningKey(
  tx: Transaction,
  deps: { sealing: Sealing; clock: Clock },
  { project_id, rotation_trigger }: { project_id: string; rotation_trigger?: string | null },
): Promise<SigningKeyRow> {
  await lockProject(tx, project_id);
  await refuseTooMany(tx, project_id);
  const previous = await findActiveSigningKey(tx, project_id);
  return rotateRow(tx, {
    ...newSigningKey(deps),
    project_id,
    overlap_seconds: SIGNING_KEY_RETIRE_HOURS * 3600,
    rotation_trigger: rotation_trigger ?? previous?.rotation_trigger ?? null,
    owner: previous === undefined ? null : ownerOf(previous),
  });
}

async function refuseTooMany(tx: Transaction, project_id: string): Promise<void> {
  const { count, seconds } = await countVerifyingKeys(tx, project_id);
  if (count < SIGNING_KEYS_VERIFYING_MAX) return;
  const message = `${count} signing keys of the project still verify, which is the maximum. Wait Retry-After seconds until one has retired.`;
  throw new ServiceError('rate_limited', { message, retryAfterSeconds: seconds });
}

function ownerOf({ owner_uid, owner_namespace, owner_name }: SigningKeyRow) {
  const isOwned = owner_uid !== null && owner_namespace !== null && owner_name !== null;
  return isOwned ? { owner_uid, owner_namespace, owner_name } : null;
}
