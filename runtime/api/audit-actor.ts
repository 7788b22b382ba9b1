/** Who a deed is put down to in the audit log. */
import type { NewAuditEntry } from '../db/audit-log.ts';
import type { Principal } from './auth/principal.ts';

export function auditActor(principal: Principal): Pick<NewAuditEntry, 'actor_kind' | 'actor_id'> {
  switch (principal.kind) {
    case 'dash':
      return { actor_kind: principal.is_staff ? 'staff' : 'user', actor_id: principal.subject };
    case 'key':
      return { actor_kind: 'key', actor_id: principal.key.key_id };
    case 'none':
      return { actor_kind: 'system', actor_id: null };
  }
}
