/** An entry of the audit log as staff see it. Spec: Staff (all require Staff). */
import type { AuditEntryRecord } from '../../core/resources/audit-entry.ts';
import type { AuditEntryRow } from '../../db/audit-log.ts';

export function presentAuditEntry({ created_at, ...row }: AuditEntryRow): AuditEntryRecord {
  return { ...row, created_at: created_at.toISOString() };
}
