// Table project_domains: custom delivery hosts, unique over all projects, at most 32 a project. Spec: Project.
import type { Transaction } from './client.ts';

/** Makes the list the project's whole list, in this order. A domain of another project violates project_domains_pkey. */
export async function updateProjectDomains(
  tx: Transaction,
  { project_id, domains }: { project_id: string; domains: readonly string[] },
): Promise<void> {
  await tx.query('delete from project_domains where project_id = $1', [project_id]);
  await tx.query(
    `insert into project_domains (domain, project_id, position)
     select domain, $1, position from unnest($2::text[]) with ordinality as list (domain, position)`,
    [project_id, domains],
  );
}
