/**
 * Creates a project together with its first signing key and the audit entry, so that no project is without a key.
 * Spec: Endpoints, Projects.
 */
import { ServiceError } from '../core/errors.ts';
import type { Actor } from '../db/audit-log.ts';
import type { Database, Transaction } from '../db/client.ts';
import { countProjects, lockOrganization } from '../db/organizations.ts';
import { findProject, insertProject, type NewProject, type ProjectRow } from '../db/projects.ts';
import { insertSigningKey } from '../db/signing-keys.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sealing } from '../platform/sealing.ts';
import { auditProject } from './audit-project.ts';
import { newSigningKey } from './new-signing-key.ts';

type Deps = { db: Database; sealing: Sealing; clock: Clock };
/** `projects_max`: how many projects the organization may have with this one. */
type Creation = { project: NewProject; actor: Actor; projects_max: number };

/** Throws project_exists, whoever owns the slug, and project_quota_exceeded. */
export async function createProject(deps: Deps, creation: Creation): Promise<ProjectRow> {
  const { project_id } = creation.project;
  return deps.db.transaction((tx) => insertWithKey(tx, deps, creation), {
    settle: (fresh) => findProject(fresh, project_id),
  });
}

async function insertWithKey(
  tx: Transaction,
  deps: Deps,
  { project, actor, projects_max }: Creation,
): Promise<ProjectRow> {
  // Locked first: concurrent calls of one organization count one after the other.
  await lockOrganization(tx, project.organization_id);
  const inserted = await insertProject(tx, project);
  // Told first: a caller who repeats a call whose answer was lost finds its project this way.
  if (inserted === undefined) throw new ServiceError('project_exists');
  if ((await countProjects(tx, project.organization_id)) > projects_max)
    throw new ServiceError('project_quota_exceeded', { details: { max_projects: projects_max } });
  const { project_id } = inserted;
  const { kid } = await insertSigningKey(tx, { ...newSigningKey(deps), project_id });
  await auditProject(tx, { action: 'project.create', actor, after: inserted });
  return { ...inserted, active_signing_kid: kid };
}
