/** What the audit log has of a project, of some actions, oldest first. */
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

/** `actions`: patterns of SQL's `like`. */
export function auditEntries(
  db: Queryable,
  { project_id }: { project_id: string },
  ...actions: readonly string[]
): Promise<AuditEntry[]> {
  return db.query(
    `select action, actor_kind, actor_id, target, before, after, request_id from audit_log
     where project_id = $1 and action like any($2) order by audit_id`,
    [project_id, actions],
  );
}
