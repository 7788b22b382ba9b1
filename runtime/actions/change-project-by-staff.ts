/**
 * The project settings that staff change: state, domains, storage limit, price and scanner switch, with all
 * consequences, in one transaction. Spec: Staff, projects; Project.
 */
import { ServiceError } from '../core/errors.ts';
import type { PatchStaffProject } from '../core/resources/project.ts';
import type { Actor } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import { findProject, lockProject, type ProjectRow } from '../db/projects.ts';
import { auditProject } from './audit-project.ts';
import { changePricing } from './change-pricing.ts';
import { changeProject } from './change-project.ts';
import { changeProjectDomains } from './change-project-domains.ts';
import { liftAutoBlocks } from './lift-auto-blocks.ts';
import { statusChange } from './status-change.ts';
import { translateViolations } from './translate-violations.ts';

type Change = { project_id: string; input: PatchStaffProject; actor: Actor };

/** Returns the project's current row. Throws not_found and custom_domain_taken. */
export async function changeProjectByStaff(
  tx: Transaction,
  { project_id, input, actor }: Change,
): Promise<ProjectRow> {
  const before = await lockProject(tx, project_id);
  if (before === undefined) throw new ServiceError('not_found');
  const { custom_domains, pricing_multiplier, status, ...settings } = input;
  await changeDomains(tx, before, custom_domains);
  const priced = await changePricing(tx, { project: before, pricing_multiplier });
  await changeProject(tx, priced, {
    ...settings,
    ...statusChange({ by: 'staff', project: before, status }),
  });
  const { nudity_auto_block } = input;
  await liftAutoBlocks(tx, { project: before, nudity_auto_block, actor });
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
  await translateViolations(changeProjectDomains(tx, project, domains), {
    project_domains_pkey: 'custom_domain_taken',
  });
}
