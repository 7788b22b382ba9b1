// Table project_domains: custom delivery hosts, unique over all projects, at most 32 per project. Spec: Project.
import type { Transaction } from './client.ts';

/**
 * Replaces the project's list by this one, in this order. A domain of another project violates
 * project_domains_pkey.
 */
export async function updateProjectDomains(
  tx: Transaction,
  { project_id, domains }: { project_id: string; domains: readonly string[] },
): Promise<void> {
  // Locks in a fixed order: two projects that exchange domains would otherwise deadlock.
  await tx.query(
    `select from project_domains where project_id = $1 or domain = any($2) order by domain for update`,
    [project_id, domains],
  );
  await tx.query('delete from project_domains where project_id = $1', [project_id]);
  await tx.query(
    `insert into project_domains (domain, project_id, position)
     select domain, $1, position from unnest($2::text[]) with ordinality as list (domain, position)
     order by domain`,
    [project_id, domains],
  );
}
