// Table audit_log: who did what, written in the transaction of the deed. It never holds secrets.
import type { Queryable } from './client.ts';

export type NewAuditEntry = {
  organization_id?: string | null;
  project_id?: string | null;
  actor_kind: 'user' | 'staff' | 'key' | 'library_session' | 'operator' | 'system';
  /** Subject, key id or resource UID, by actor_kind. */
  actor_id?: string | null;
  action: string;
  /** An id or a slug. */
  target?: string | null;
  before?: unknown;
  after?: unknown;
  request_id?: string | null;
};

/** To whom a deed is put down. */
export type Actor = Pick<NewAuditEntry, 'actor_kind' | 'actor_id' | 'request_id'>;

export async function insertAuditEntry(db: Queryable, entry: NewAuditEntry): Promise<void> {
  await db.query(
    `insert into audit_log (organization_id, project_id, actor_kind, actor_id, action, target,
       before, after, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      entry.organization_id ?? null,
      entry.project_id ?? null,
      entry.actor_kind,
      entry.actor_id ?? null,
      entry.action,
      entry.target ?? null,
      printJson(entry.before),
      printJson(entry.after),
      entry.request_id ?? null,
    ],
  );
}

/** Entries that are older; returns how many went. */
export async function deleteOldAuditEntries(db: Queryable, ageSeconds: number): Promise<number> {
  const rows = await db.query(
    'delete from audit_log where created_at < now() - make_interval(secs => $1) returning audit_id',
    [ageSeconds],
  );
  return rows.length;
}

function printJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
