/**
 * Decides who may call an endpoint, from the endpoint's own list of credentials. Spec: Authentication, Rules 1, 2 and
 * 6. The order of the checks is part of the contract: first who the caller is, whether this kind of caller is allowed
 * here, and whether a browser's write is signed; only then is an account created or a missing scope reported.
 */
import { firstLogin } from '../../actions/first-login.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Plans } from '../../core/plans.ts';
import { apiKeyScopes, hasScope, libraryPermissions, type Scope } from '../../core/scopes.ts';
import type { Database } from '../../db/client.ts';
import type { Identity } from '../../platform/identity.ts';
import type { Log } from '../../platform/log.ts';
import { personActor } from '../audit-actor.ts';
import { authenticateKey } from './api-key.ts';
import { authenticateSession } from './browser-session.ts';
import { checkInbound, type InboundSecrets, inboundCredential } from './inbound-signature.ts';
import {
  authenticateLibrarySession,
  type LibraryAuthDeps,
  requirePermission,
} from './library-session.ts';
import { type Presented, presentedCredential, type SignedCall } from './presented-credential.ts';
import {
  type Credential,
  type DashPrincipal,
  isOpen,
  type KeyPrincipal,
  type LibrarySessionPrincipal,
  type Principal,
  type TokenCredential,
  tokenCredential,
} from './principal.ts';
import { checkRequestSignature } from './request-signature.ts';
import { checkStaff, isStaff, type StaffList } from './staff.ts';

export type AuthDeps = InboundSecrets &
  LibraryAuthDeps & {
    readonly db: Database;
    readonly identity: Identity;
    readonly log: Log;
    readonly plans: Plans;
    readonly staff: StaffList;
    readonly requestSigningSecret: string | undefined;
  };

export async function authorize(
  deps: AuthDeps,
  allowed: readonly Credential[],
  call: SignedCall,
): Promise<Principal> {
  // Checked before the path: while sessions are off, no embed page exists.
  const isEmbed = allowed.includes('embed_url_signature');
  if (isEmbed && deps.settings.librarySessions === 'disabled') throw new ServiceError('not_found');
  if (isOpen(allowed)) return { kind: 'none' };
  const inbound = inboundCredential(allowed);
  if (inbound !== undefined) {
    checkInbound(deps, inbound, call);
    return { kind: 'none' };
  }
  const presented = presentedCredential(call.headers);
  const token = tokenCredential(allowed);
  if (token !== undefined) return authorizeToken({ deps, presented }, token);
  switch (presented.kind) {
    case 'key':
      return authorizeKey(deps, allowed, presented.secret);
    case 'access-token':
      return authorizeSession({ deps, allowed, call }, presented.token);
    case 'library-session':
      throw new ServiceError('library_session_not_allowed');
    case 'nothing':
      throw new ServiceError('unauthorized');
  }
}

type TokenCall = { deps: AuthDeps; presented: Presented };

async function authorizeToken(
  { deps, presented }: TokenCall,
  asked: TokenCredential,
): Promise<LibrarySessionPrincipal> {
  const principal = await authenticateLibrarySession(deps, presented);
  const permission = libraryPermissions.find((each) => asked === `token:${each}`);
  if (permission !== undefined) requirePermission(principal, [permission]);
  return principal;
}

async function authorizeKey(
  deps: AuthDeps,
  allowed: readonly Credential[],
  secret: string,
): Promise<KeyPrincipal> {
  const principal = await authenticateKey(deps, secret);
  const accepted = allowed.map(scopeOf).filter((scope) => scope !== undefined);
  if (accepted.length === 0) throw new ServiceError('browser_session_required');
  const { scopes } = principal.key;
  const isGranted = accepted.some((scope) => scope === 'any' || hasScope(scopes, scope));
  if (!isGranted) throw new ServiceError('forbidden');
  return principal;
}

/** The scope that a credential requires of a key; undefined when the credential admits no key. */
function scopeOf(credential: Credential): Scope | 'any' | undefined {
  if (credential === 'key') return 'any';
  return apiKeyScopes.find((scope) => credential === `key:${scope}`);
}

type SessionCall = { deps: AuthDeps; allowed: readonly Credential[]; call: SignedCall };

async function authorizeSession(
  { deps, allowed, call }: SessionCall,
  token: string,
): Promise<DashPrincipal> {
  const { subject, display } = await authenticateSession(deps.identity, token, call.headers);
  if (allowed.includes('staff')) checkStaff(deps.staff, subject);
  else if (!allowed.includes('dash')) throw new ServiceError('api_key_required');
  checkRequestSignature(deps.requestSigningSecret, call);
  const person = { subject, is_staff: isStaff(deps.staff, subject) };
  const actor = { ...personActor(person), request_id: call.request_id };
  const account = await firstLogin(deps, { subject, display, actor });
  return { kind: 'dash', ...person, ...account };
}
