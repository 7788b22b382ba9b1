/** Writes the decided changes of a project's keys in one transaction. */
import { newSigningKey } from '../../runtime/actions/new-signing-key.ts';
import { rotateSigningKey } from '../../runtime/actions/rotate-signing-key.ts';
import type { Transaction } from '../../runtime/db/client.ts';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import { insertSigningKey, updateSigningKeyOwner } from '../../runtime/db/signing-keys.ts';
import { ownerColumns } from '../claim.ts';
import { type ApplyContext, presentProject } from '../reconcile.ts';
import type { SigningKeyChange } from './decide.ts';
import type { SigningKeySpec } from './schema.ts';

export async function applySigningKey(
  tx: Transaction,
  changes: readonly SigningKeyChange[],
  context: ApplyContext<SigningKeySpec>,
): Promise<ProjectRow> {
  for (const change of changes) await write(tx, change, context);
  return presentProject(context.project);
}

async function write(
  tx: Transaction,
  change: SigningKeyChange,
  context: ApplyContext<SigningKeySpec>,
): Promise<unknown> {
  const owner = ownerColumns(context.subject.identity);
  switch (change.change) {
    case 'issue': {
      const { project_id, rotation_trigger } = change;
      return insertSigningKey(tx, {
        ...newSigningKey(context),
        project_id,
        rotation_trigger,
        owner,
      });
    }
    case 'claim':
    case 'adopt':
      return updateSigningKeyOwner(tx, { ...change, owner });
    case 'rotate':
      return rotateSigningKey(tx, context, change);
    case 'release':
      return updateSigningKeyOwner(tx, { ...change, owner: null });
  }
}
