/** Who is calling, once authenticated, and the credentials of endpoints. Spec: Authentication, Credentials. */
import { type LibraryPermission, libraryPermissions, type Scope } from '../../core/scopes.ts';
import type { LibrarySessionClaims } from '../../core/signing/library-session.ts';
import type { AuthenticatedKeyRow } from '../../db/api-keys.ts';
import type { LibrarySessionFacts } from '../../db/library-sessions.ts';
import type { OrganizationRow } from '../../db/organizations.ts';
import type { UserRow } from '../../db/users.ts';

/** A person in the dashboard; `is_staff` is true only while the staff API is enabled. */
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

/** An end user in the picker; `facts` are at most a few seconds old. */
export type LibrarySessionPrincipal = {
  readonly kind: 'library_session';
  readonly claims: LibrarySessionClaims;
  readonly facts: LibrarySessionFacts;
};

/** An anonymous caller, on an endpoint that is open to all. */
export type NonePrincipal = { readonly kind: 'none' };

export type Principal = DashPrincipal | KeyPrincipal | LibrarySessionPrincipal | NonePrincipal;

/**
 * A credential that an endpoint accepts: `key` is any API key, `key:files:read` one with that
 * scope; `token` is any library session, `token:upload` one with that permission. `none`, `staff`,
 * the body signatures and the embed URL signature take no parameter.
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

/**
 * Whether the endpoint accepts anonymous callers. The handler verifies the signature of an embed
 * URL together with the values that it covers.
 */
export function isOpen(allowed: readonly Credential[]): boolean {
  return allowed.includes('none') || allowed.includes('embed_url_signature');
}

/** A library session: any, or one with the named permission. */
export type TokenCredential = 'token' | `token:${LibraryPermission}`;

/** What an endpoint's list requires of library sessions; undefined when it accepts none. */
export function tokenCredential(allowed: readonly Credential[]): TokenCredential | undefined {
  return TOKEN_CREDENTIALS.find((credential) => allowed.includes(credential));
}

const TOKEN_CREDENTIALS: readonly TokenCredential[] = [
  'token',
  ...libraryPermissions.map((permission) => `token:${permission}` as const),
];

/** The caller of an endpoint that accepts only browser sessions. */
export function requireDashPrincipal(principal: Principal): DashPrincipal {
  if (principal.kind === 'dash') return principal;
  throw new TypeError(`a ${principal.kind} principal where only sessions are let in`);
}

/** The caller of an endpoint that accepts only keys. */
export function requireKeyPrincipal(principal: Principal): KeyPrincipal {
  if (principal.kind === 'key') return principal;
  throw new TypeError(`a ${principal.kind} principal where only keys are let in`);
}

/** The caller of an endpoint that accepts only library sessions. */
export function requireLibrarySessionPrincipal(principal: Principal): LibrarySessionPrincipal {
  if (principal.kind === 'library_session') return principal;
  throw new TypeError(`a ${principal.kind} principal where only library sessions are let in`);
}
