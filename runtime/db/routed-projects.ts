/** Projects as input for routes: their hosts, and the resource that declares them. Spec: Project (custom_domains). */
import type { Queryable } from './client.ts';
import type { OwnerColumns } from './declared-rows.ts';

export type RoutedProjectRow = OwnerColumns & {
  project_id: string;
  project_slug: string;
  custom_domains: string[];
};

const SELECT = `
  select project_id, project_slug, owner_uid, owner_namespace, owner_name,
    array(select domain from project_domains d where d.project_id = p.project_id order by position) as custom_domains
  from projects p`;

export async function findRoutedProject(
  db: Queryable,
  by: { owner_uid: string } | { project_slug: string },
): Promise<RoutedProjectRow | undefined> {
  const [[column, value] = []] = Object.entries(by);
  return (await db.query<RoutedProjectRow>(`${SELECT} where p.${column} = $1`, [value]))[0];
}

/** One page, by id: projects that a resource declares, and those with hosts of their own. */
export function listRoutedProjects(
  db: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<RoutedProjectRow[]> {
  return db.query<RoutedProjectRow>(
    `${SELECT}
     where p.project_id > $1 and (p.owner_uid is not null
       or exists (select from project_domains d where d.project_id = p.project_id))
     order by p.project_id limit $2`,
    [after, limit],
  );
}

export type RouteChangeRow = { project_slug: string; version: number };

/** Projects whose hosts changed after this version, newest first. */
export function listRouteChanges(
  db: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<RouteChangeRow[]> {
  return db.query<RouteChangeRow>(
    `select p.project_slug, c.version from project_route_changes c join projects p using (project_id)
     where c.version > $1 order by c.version desc limit $2`,
    [after, limit],
  );
}
