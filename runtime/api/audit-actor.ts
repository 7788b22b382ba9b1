/** Who a deed is put down to in the audit log. */
import type { Actor, NewAuditEntry } from '../db/audit-log.ts';
import type { Principal } from './auth/principal.ts';
import type { RawCall } from './endpoint.ts';

/** The caller, with the request by which the deed is found in the logs. */
export function auditActor({
  principal,
  request_id,
}: Pick<RawCall, 'principal' | 'request_id'>): Actor {
  return { ...named(principal), request_id };
}

function named(principal: Principal): Pick<NewAuditEntry, 'actor_kind' | 'actor_id'> {
  switch (principal.kind) {
    case 'dash':
      return { actor_kind: principal.is_staff ? 'staff' : 'user', actor_id: principal.subject };
    case 'key':
      return { actor_kind: 'key', actor_id: principal.key.key_id };
    case 'library_session':
      return { actor_kind: 'library_session', actor_id: principal.claims.session_id };
    case 'none':
      return { actor_kind: 'system', actor_id: null };
  }
}
