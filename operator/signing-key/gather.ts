/** What has to be read to judge a SigningKey resource. */
import type { Queryable } from '../../runtime/db/client.ts';
import {
  type DeclaredSigningKeyRow,
  findDeclaredSigningKey,
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
  /** The active key that the resource owns, in whichever project. */
  owned: DeclaredSigningKeyRow | undefined;
  /** How many keys of the project verify, and in how many seconds the first of them stops. */
  verifying: { count: number; seconds: number };
};

export async function gatherSigningKey(
  db: Queryable,
  { identity, spec }: Subject<SigningKeySpec>,
  scope: Scope,
): Promise<SigningKeyRows> {
  const owned = await findDeclaredSigningKey(db, { owner_uid: identity.uid });
  const none = { count: 0, seconds: 0 };
  if (spec === undefined) return { project: owned, key: owned, owned, verifying: none };
  const project = await findReferredProject(db, spec, scope);
  const key = project && (await findDeclaredSigningKey(db, project));
  const verifying = project && (await countVerifyingKeys(db, project.project_id));
  return { project, key, owned, verifying: verifying ?? none };
}
