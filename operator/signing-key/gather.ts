/** What has to be read to judge a SigningKey resource. */
import type { Queryable } from '../../runtime/db/client.ts';
import {
  type DeclaredSigningKeyRow,
  findDeclaredSigningKey,
} from '../../runtime/db/declared-rows.ts';
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
};

export async function gatherSigningKey(
  db: Queryable,
  { identity, spec }: Subject<SigningKeySpec>,
  scope: Scope,
): Promise<SigningKeyRows> {
  const owned = await findDeclaredSigningKey(db, { owner_uid: identity.uid });
  if (spec === undefined) return { project: owned, key: owned, owned };
  const project = await findReferredProject(db, spec, scope);
  const key = project && (await findDeclaredSigningKey(db, project));
  return { project, key, owned };
}
