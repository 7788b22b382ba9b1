/**
 * Who is calling, once that is proven, and what an endpoint asks of callers.
 * Spec: Authentication, Credentials.
 */
import type { Scope } from '../../core/scopes.ts';
import type { AuthenticatedKeyRow } from '../../db/api-keys.ts';
import type { OrganizationRow } from '../../db/organizations.ts';
import type { UserRow } from '../../db/users.ts';

/** A person at the dashboard; `is_staff` only while the staff API is enabled. */
export type DashPrincipal = {
  readonly kind: 'dash';
  readonly subject: string;
  readonly user: UserRow;
  readonly organization: OrganizationRow;
  readonly is_staff: boolean;
};

/** Server code with an active key of an active project. */
export type KeyPrincipal = {
  readonly kind: 'key';
  readonly key: AuthenticatedKeyRow;
};

/** Nobody in particular, on an endpoint that is open to all. */
export type NonePrincipal = { readonly kind: 'none' };

export type Principal = DashPrincipal | KeyPrincipal | NonePrincipal;

/**
 * A way to be let in, as an endpoint lists them: `key` is any API key, `key:files:read` one with
 * that scope. `none`, `storage_event_signature` (a signature over the body) and `staff` stand alone.
 */
export type Credential =
  | 'none'
  | 'storage_event_signature'
  | 'dash'
  | 'staff'
  | 'key'
  | `key:${Scope}`;

/** The caller of an endpoint that lets only browser sessions in. */
export function onlyDash(principal: Principal): DashPrincipal {
  if (principal.kind === 'dash') return principal;
  throw new TypeError(`a ${principal.kind} principal where only sessions are let in`);
}

/** The caller of an endpoint that lets only keys in. */
export function onlyKey(principal: Principal): KeyPrincipal {
  if (principal.kind === 'key') return principal;
  throw new TypeError(`a ${principal.kind} principal where only keys are let in`);
}
