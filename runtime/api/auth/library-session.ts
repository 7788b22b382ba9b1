/**
 * Library sessions: the token is verified without the database. Whether it was revoked, or its key or library is gone,
 * is cached for a few seconds. Spec: Authentication, Credentials, LibrarySession; Rules 6.
 */
import { LRUCache } from 'lru-cache';
import { findSessionFacts, sessionErrorCode } from '../../actions/library-session-status.ts';
import { ServiceError } from '../../core/errors.ts';
import type { LibraryPermission } from '../../core/scopes.ts';
import type { NamedKey } from '../../core/signing/hmac.ts';
import {
  type LibrarySessionClaims,
  verifyLibrarySession,
} from '../../core/signing/library-session.ts';
import type { Queryable } from '../../db/client.ts';
import type { LibrarySessionFacts } from '../../db/library-sessions.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Presented } from './presented-credential.ts';
import type { LibrarySessionPrincipal } from './principal.ts';

export type SessionFacts = {
  find(db: Queryable, claims: LibrarySessionClaims): Promise<LibrarySessionFacts | undefined>;
  /** Drops the cached facts about a project's sessions. */
  forget(projectId: string): void;
};

/**
 * A picker page makes several calls at once, so facts are cached; every process sees a revocation
 * after at most this time.
 */
const KNOWN_MS = 5_000;
const KNOWN_MAX = 10_000;

export function createSessionFacts(): SessionFacts {
  const known = new LRUCache<string, LibrarySessionFacts>({ max: KNOWN_MAX, ttl: KNOWN_MS });
  let forgotten = 0;
  return {
    async find(db, claims) {
      const { project_id, key_id, library_id, subject_mac } = claims;
      const key = JSON.stringify([project_id, key_id, library_id, subject_mac]);
      const kept = known.get(key);
      if (kept !== undefined) return kept;
      const before = forgotten;
      const facts = await findSessionFacts(db, claims);
      // Facts that were read before a forget() may already be outdated.
      if (facts !== undefined && before === forgotten) known.set(key, facts);
      return facts;
    },
    forget(projectId) {
      forgotten += 1;
      const prefix = JSON.stringify([projectId]).slice(0, -1);
      for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key);
    },
  };
}

/** Call after anything that may end sessions of the project; others notice seconds later. */
export function forgetSessions({
  deps: { sessionFacts },
  project: { project_id },
}: {
  deps: { readonly sessionFacts: SessionFacts };
  project: { project_id: string };
}): void {
  sessionFacts.forget(project_id);
}

export type LibraryAuthDeps = {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly libraryKeys: { readonly sessions: readonly NamedKey[] };
  readonly sessionFacts: SessionFacts;
  readonly settings: { readonly librarySessions: 'enabled' | 'disabled' };
};

/** Throws library_sessions_disabled and the codes for an invalid, expired or revoked token. */
export async function authenticateLibrarySession(
  { db, clock, libraryKeys, sessionFacts, settings }: LibraryAuthDeps,
  presented: Presented,
): Promise<LibrarySessionPrincipal> {
  if (settings.librarySessions === 'disabled') throw new ServiceError('library_sessions_disabled');
  if (presented.kind !== 'library-session')
    throw new ServiceError('unauthorized', { message: ONLY_SESSIONS });
  const now = Math.floor(clock.now().getTime() / 1000);
  const verdict = verifyLibrarySession(libraryKeys.sessions, presented.token, now);
  if (verdict.outcome !== 'valid') throw new ServiceError(verdict.outcome);
  const { claims } = verdict;
  const facts = await sessionFacts.find(db, claims);
  const ended = sessionErrorCode(claims, facts);
  if (ended !== undefined || facts === undefined)
    throw new ServiceError(ended ?? 'invalid_session');
  return { kind: 'library_session', claims, facts };
}

const ONLY_SESSIONS =
  'Only library sessions are accepted here. Send the token that was minted as Authorization: Bearer ls1.…';

/** Throws permission_denied if the session has none of the permissions. */
export function requirePermission(
  { claims }: LibrarySessionPrincipal,
  oneOf: readonly LibraryPermission[],
): void {
  if (claims.permissions.some((permission) => oneOf.includes(permission))) return;
  const message = `This library session was minted without ${oneOf.join(' or ')}. Mint one with it.`;
  throw new ServiceError('permission_denied', { message });
}
