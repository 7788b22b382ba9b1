// Table audit_log: who did what, written in the transaction of the action. It never holds secrets.
import type { Queryable } from './client.ts';
import { deleteRowsOlderThan } from './delete-rows.ts';
import { type FilteredList, listFiltered } from './filtered-list.ts';
import type { Page, PageQuery } from './keyset.ts';
import { prepared } from './prepared-statements.ts';

export type NewAuditEntry = {
  /** For an action in a project, the project's organization, which may be left out. */
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

/** The actor of an entry. */
export type Actor = Pick<NewAuditEntry, 'actor_kind' | 'actor_id' | 'request_id'>;

/** In the order of `auditValues`. */
export const AUDIT_COLUMNS = `organization_id, project_id, actor_kind, actor_id, action, target,
  before, after, request_id`;

const INSERT = prepared(
  `insert into audit_log (${AUDIT_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export async function insertAuditEntry(db: Queryable, entry: NewAuditEntry): Promise<void> {
  await db.query(INSERT, auditValues(entry));
}

/** For many actions, in one statement. */
export async function insertAuditEntries(
  db: Queryable,
  entries: readonly NewAuditEntry[],
): Promise<void> {
  const rows = entries.map(auditValues);
  const columns = AUDIT_COLUMNS.split(',').map((_, column) => rows.map((row) => row[column]));
  await db.query(
    `insert into audit_log (${AUDIT_COLUMNS}) select * from unnest($1::text[], $2::text[], $3::text[], $4::text[],
       $5::text[], $6::text[], $7::jsonb[], $8::jsonb[], $9::text[])`,
    columns,
  );
}

export function auditValues(entry: NewAuditEntry): readonly unknown[] {
  return [
    entry.organization_id ?? null,
    entry.project_id ?? null,
    entry.actor_kind,
    entry.actor_id ?? null,
    entry.action,
    entry.target ?? null,
    printJson(entry.before),
    printJson(entry.after),
    entry.request_id ?? null,
  ];
}

/** Deletes older entries; returns how many. */
export function deleteOldAuditEntries(db: Queryable, ageSeconds: number): Promise<number> {
  return deleteRowsOlderThan(db, { table: 'audit_log', column: 'created_at' }, ageSeconds);
}

function printJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

export type AuditEntryRow = {
  audit_id: number;
  organization_id: string | null;
  project_slug: string | null;
  actor_kind: NewAuditEntry['actor_kind'];
  actor_id: string | null;
  action: string;
  target: string | null;
  before: unknown;
  after: unknown;
  request_id: string | null;
  created_at: Date;
};

/** Undefined: any value. */
export type AuditFilters = {
  organization_id?: string | undefined;
  project_slug?: string | undefined;
  actor_kind?: string | undefined;
  actor_id?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  request_id?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
};

/** Newest first. */
export function listAuditEntries(
  db: Queryable,
  { limit, after, ...asked }: PageQuery & AuditFilters,
): Promise<Page<AuditEntryRow>> {
  return listFiltered(db, LIST, { limit, after, asked });
}

const LIST: FilteredList<AuditEntryRow, keyof AuditFilters> = {
  select: `select a.audit_id, a.organization_id, p.project_slug,
      a.actor_kind, a.actor_id, a.action, a.target, a.before, a.after, a.request_id, a.created_at
    from audit_log a left join projects p using (project_id)`,
  conditions: {
    organization_id: (value) => `a.organization_id = ${value}`,
    // By the id: its index is in the order of the list, so that a full page ends the scan, however
    // far back it is.
    project_slug: (value) =>
      `a.project_id = (select project_id from projects where project_slug = ${value})`,
    actor_kind: (value) => `a.actor_kind = ${value}`,
    actor_id: (value) => `a.actor_id = ${value}`,
    action: (value) => `a.action = ${value}`,
    target: (value) => `a.target = ${value}`,
    request_id: (value) => `a.request_id = ${value}`,
    since: (value) => `a.created_at >= ${value}`,
    until: (value) => `a.created_at < ${value}`,
  },
  order: ['a.created_at', 'a.audit_id'],
  idOf: (row) => String(row.audit_id),
};
