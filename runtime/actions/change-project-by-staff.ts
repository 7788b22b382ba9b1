/**
 * What staff set of a project: its state, domains, room, price and scanner switch, with everything that follows, in one
 * transaction. Spec: Staff, projects; Project.
 */
import { ServiceError } from '../core/errors.ts';
import type { PatchStaffProject } from '../core/resources/project.ts';
import type { Actor } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import { ConstraintViolation } from '../db/failures.ts';
import { forgetBlock } from '../db/files.ts';
import { findProject, lockProject, type ProjectRow } from '../db/projects.ts';
import { listUnreviewedBlocks } from '../db/scanner-checks.ts';
import type { Clock } from '../platform/clock.ts';
import { auditProject } from './audit-project.ts';
import { unblockFile } from './block-file.ts';
import { changePricing } from './change-pricing.ts';
import { changeProject } from './change-project.ts';
import { changeProjectDomains } from './change-project-domains.ts';
import { statusChange } from './status-change.ts';

type Change = { project_id: string; wish: PatchStaffProject; actor: Actor };

/** The project as it is now. Throws not_found and custom_domain_taken. */
export async function changeProjectByStaff(
  tx: Transaction,
  { clock }: { clock: Clock },
  { project_id, wish, actor }: Change,
): Promise<ProjectRow> {
  const before = await lockProject(tx, project_id);
  if (before === undefined) throw new ServiceError('not_found');
  const { custom_domains, pricing_multiplier, status, ...settings } = wish;
  await changeDomains(tx, before, custom_domains);
  const priced = await changePricing(tx, { clock }, { project: before, pricing_multiplier });
  await changeProject(tx, priced, {
    ...settings,
    ...statusChange({ by: 'staff', project: before, status }),
  });
  if (before.nudity_auto_block && wish.nudity_auto_block === false)
    await letGo(tx, { project_id, actor, now: clock.now() });
  const after = await findProject(tx, project_id);
  if (after === undefined) throw new Error(`${project_id} is locked and gone`);
  await auditProject(tx, { action: 'project.update', actor, before, after });
  return after;
}

async function changeDomains(
  tx: Transaction,
  project: ProjectRow,
  domains: readonly string[] | undefined,
): Promise<void> {
  if (domains === undefined || domains.join() === project.custom_domains.join()) return;
  await changeProjectDomains(tx, project, domains).catch((error: unknown) => {
    const isTaken =
      error instanceof ConstraintViolation && error.constraint === 'project_domains_pkey';
    throw isTaken ? new ServiceError('custom_domain_taken', { cause: error }) : error;
  });
}

/**
 * The scanner's blocks go with its switch, also those that wait for the next file of a slug; what staff rejected stays.
 * Their checks still wait for somebody to look.
 */
async function letGo(
  tx: Transaction,
  { project_id, ...decision }: { project_id: string; actor: Actor; now: Date },
): Promise<void> {
  for (const { file_id, status } of await listUnreviewedBlocks(tx, project_id)) {
    if (status === 'deleted') await forgetBlock(tx, file_id);
    else await unblockFile(tx, { file_id, ...decision });
  }
}
