/**
 * Deletes a project in the API's sense: the project is suspended by its owner and loses nothing. A suspended project
 * stays as it is, whoever suspended it; its resource reactivates it only if the resource says so. Spec: Project
 * (status); Projects (DELETE).
 */
import type { Actor } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import { lockProject } from '../db/projects.ts';
import { auditProject } from './audit-project.ts';
import { changeProject } from './change-project.ts';

export async function suspendProject(
  tx: Transaction,
  { project_id, actor }: { project_id: string; actor: Actor },
): Promise<void> {
  const before = await lockProject(tx, project_id);
  if (before === undefined) return;
  const suspension =
    before.status === 'active' ? ({ status: 'suspended', suspended_by: 'owner' } as const) : {};
  const after = await changeProject(tx, before, { ...suspension, suspended_by_deletion: false });
  await auditProject(tx, { action: 'project.delete', actor, before, after });
}
