/** Who the audit log records as the author of an action. */
import type { Actor, NewAuditEntry } from '../db/audit-log.ts';
import type { DashPrincipal, Principal } from './auth/principal.ts';
import type { RawCall } from './endpoint.ts';

/** The caller, with the id of the request, which leads to its log lines. */
export function auditActor({
  principal,
  request_id,
}: Pick<RawCall, 'principal' | 'request_id'>): Actor {
  return { ...named(principal), request_id };
}

type Person = Pick<DashPrincipal, 'is_staff' | 'subject'>;

/** The person behind a session, also before their account has been looked up. */
export function personActor({ is_staff, subject }: Person) {
  return { actor_kind: is_staff ? 'staff' : 'user', actor_id: subject } as const;
}

function named(principal: Principal): Pick<NewAuditEntry, 'actor_kind' | 'actor_id'> {
  switch (principal.kind) {
    case 'dash':
      return personActor(principal);
    case 'key':
      return { actor_kind: 'key', actor_id: principal.key.key_id };
    case 'library_session':
      return { actor_kind: 'library_session', actor_id: principal.claims.session_id };
    case 'none':
      return { actor_kind: 'system', actor_id: null };
  }
}
