/** Lists the audit entries of a project or an organization, oldest first. */
import type { Queryable } from '../../runtime/db/client.ts';

export type AuditEntry = {
  action: string;
  actor_kind: string;
  actor_id: string | null;
  target: string | null;
  before: unknown;
  after: unknown;
  request_id: string | null;
};

/** `actions` are patterns for SQL's `like`. */
export function auditEntries(
  db: Queryable,
  whose: { project_id: string } | { organization_id: string },
  ...actions: readonly string[]
): Promise<AuditEntry[]> {
  const [column, id] =
    'project_id' in whose
      ? ['project_id', whose.project_id]
      : ['organization_id', whose.organization_id];
  return db.query(
    `select action, actor_kind, actor_id, target, before, after, request_id from audit_log
     where ${column} = $1 and action like any($2) order by audit_id`,
    [id, actions],
  );
}
