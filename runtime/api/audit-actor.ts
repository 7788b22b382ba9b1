/** Who a deed is put down to in the audit log. */
import type { Actor, NewAuditEntry } from '../db/audit-log.ts';
import type { DashPrincipal, Principal } from './auth/principal.ts';
import type { RawCall } from './endpoint.ts';

/** The caller, with the request by which the deed is found in the logs. */
export function auditActor({
  principal,
  request_id,
}: Pick<RawCall, 'principal' | 'request_id'>): Actor {
  return { ...named(principal), request_id };
}

type Person = Pick<DashPrincipal, 'is_staff' | 'subject'>;

/** Whoever has a session, before its account is found, too. */
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
