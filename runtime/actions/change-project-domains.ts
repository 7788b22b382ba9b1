/**
 * Writes a project's custom domains. Removing one purges the project's images from caches, because another project may
 * serve its own under the same host and path from then on. Spec: Project; Caching and response headers.
 */
import type { Transaction } from '../db/client.ts';
import { updateProjectDomains } from '../db/project-domains.ts';
import { type ProjectRow, updateProject } from '../db/projects.ts';
import { purgeProject } from './purge.ts';

/**
 * `project` is locked by the transaction. Domains have rows of their own, but changing them also
 * updates the project.
 */
export async function changeProjectDomains(
  tx: Transaction,
  { project_id, custom_domains }: Pick<ProjectRow, 'project_id' | 'custom_domains'>,
  domains: readonly string[],
): Promise<ProjectRow | undefined> {
  await updateProjectDomains(tx, { project_id, domains });
  const left_domains = custom_domains.filter((domain) => !domains.includes(domain));
  if (left_domains.length > 0)
    await purgeProject(tx, { project_id, reason: 'custom_domains', left_domains });
  return updateProject(tx, { project_id, changes: {} });
}
