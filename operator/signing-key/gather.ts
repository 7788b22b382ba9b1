/** Reads what is needed to judge a SigningKey resource. */
import type { Queryable } from '../../runtime/db/client.ts';
import {
  type DeclaredSigningKeyRow,
  findDeclaredSigningKey,
  findPreviousSigningKey,
} from '../../runtime/db/declared-rows.ts';
import { countVerifyingKeys } from '../../runtime/db/signing-keys.ts';
import type { Subject } from '../declared.ts';
import type { Scope } from '../reconcile.ts';
import { findReferredProject } from '../referred-project.ts';
import type { SigningKeySpec } from './schema.ts';

export type SigningKeyRows = {
  project: { project_id: string } | undefined;
  /** The active key of the project, whoever owns it. */
  key: DeclaredSigningKeyRow | undefined;
  /** The active key resulted from a rotation. */
  has_predecessor: boolean;
  /** The active key that the resource owns, in any project. */
  owned: DeclaredSigningKeyRow | undefined;
  /** How many keys of the project verify, and in how many seconds the first of them expires. */
  verifying: { count: number; seconds: number };
};

export async function gatherSigningKey(
  db: Queryable,
  { identity, spec }: Subject<SigningKeySpec>,
  scope: Scope,
): Promise<SigningKeyRows> {
  const owned = await findDeclaredSigningKey(db, { owner_uid: identity.uid });
  const none = { count: 0, seconds: 0 };
  const alone = { project: owned, key: owned, owned, has_predecessor: false, verifying: none };
  if (spec === undefined) return alone;
  const project = await findReferredProject(db, spec, scope);
  const key = project && (await findDeclaredSigningKey(db, project));
  const verifying = project && (await countVerifyingKeys(db, project.project_id));
  const previous = key?.owner_uid === null ? await findPreviousSigningKey(db, key) : undefined;
  const has_predecessor = previous !== undefined;
  return { project, key, owned, has_predecessor, verifying: verifying ?? none };
}
