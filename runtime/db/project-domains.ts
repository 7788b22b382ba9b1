// Table project_domains: custom delivery hosts, unique over all projects, at most 32 a project. Spec: Project.
import type { Transaction } from './client.ts';

/** Makes the list the project's whole list, in this order. A domain of another project violates project_domains_pkey. */
export async function updateProjectDomains(
  tx: Transaction,
  { project_id, domains }: { project_id: string; domains: readonly string[] },
): Promise<void> {
  // All in one order: two projects that exchange domains would else each wait for the other to let go of its own.
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
