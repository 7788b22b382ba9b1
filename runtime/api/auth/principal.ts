/**
 * Who is calling, once that is proven, and what an endpoint asks of callers.
 * Spec: Authentication, Credentials.
 */
import { type LibraryPermission, libraryPermissions, type Scope } from '../../core/scopes.ts';
import type { LibrarySessionClaims } from '../../core/signing/library-session.ts';
import type { AuthenticatedKeyRow } from '../../db/api-keys.ts';
import type { LibrarySessionFacts } from '../../db/library-sessions.ts';
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

/** An end user in the picker; `facts` are at most seconds old. */
export type LibrarySessionPrincipal = {
  readonly kind: 'library_session';
  readonly claims: LibrarySessionClaims;
  readonly facts: LibrarySessionFacts;
};

/** Nobody in particular, on an endpoint that is open to all. */
export type NonePrincipal = { readonly kind: 'none' };

export type Principal = DashPrincipal | KeyPrincipal | LibrarySessionPrincipal | NonePrincipal;

/**
 * A way to be let in, as an endpoint lists them: `key` is any API key, `key:files:read` one with
 * that scope; `token` is any library session, `token:upload` one with that permission. `none`, `staff`, the
 * signatures over the body and that of the embed URL stand alone.
 */
export type Credential =
  | 'none'
  | 'storage_event_signature'
  | 'provider_a_signature'
  | 'provider_b_signature'
  | 'embed_url_signature'
  | TokenCredential
  | 'dash'
  | 'staff'
  | 'key'
  | `key:${Scope}`;

/** Whether nobody is asked who they are. The signature of an embed URL is judged by the handler, with what it signs. */
export function isOpen(allowed: readonly Credential[]): boolean {
  return allowed.includes('none') || allowed.includes('embed_url_signature');
}

/** A library session: any, or one with a permission. */
export type TokenCredential = 'token' | `token:${LibraryPermission}`;

/** Of an endpoint's list, what it asks of library sessions. */
export function tokenCredential(allowed: readonly Credential[]): TokenCredential | undefined {
  return TOKEN_CREDENTIALS.find((credential) => allowed.includes(credential));
}

const TOKEN_CREDENTIALS: readonly TokenCredential[] = [
  'token',
  ...libraryPermissions.map((permission) => `token:${permission}` as const),
];

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

/** The caller of an endpoint that lets only library sessions in. */
export function onlyLibrarySession(principal: Principal): LibrarySessionPrincipal {
  if (principal.kind === 'library_session') return principal;
  throw new TypeError(`a ${principal.kind} principal where only library sessions are let in`);
}
