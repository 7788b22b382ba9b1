/** Why a library session has ended although its token verifies. Spec: Authentication, Rules 6. */
import type { ApiErrorCode } from '../core/errors.ts';
import { LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS } from '../core/limits.ts';
import type { LibrarySessionClaims } from '../core/signing/library-session.ts';
import type { Queryable } from '../db/client.ts';
import { findLibrarySessionFacts, type LibrarySessionFacts } from '../db/library-sessions.ts';

/** The pseudonyms of a token's subject: one for each key that existed when it was minted. */
export function uploadersOf({ subject_mac }: Pick<LibrarySessionClaims, 'subject_mac'>): Buffer[] {
  return subject_mac.split(MAC_SEPARATOR).map((mac) => Buffer.from(mac, 'base64url'));
}

export function printUploaders(uploaders: readonly Buffer[]): string {
  return uploaders.map((uploader) => uploader.toString('base64url')).join(MAC_SEPARATOR);
}

const MAC_SEPARATOR = '.';

export function findSessionFacts(
  db: Queryable,
  claims: LibrarySessionClaims,
): Promise<LibrarySessionFacts | undefined> {
  return findLibrarySessionFacts(db, { ...claims, uploaders: uploadersOf(claims) });
}

/** Undefined while the session is valid. */
export function sessionErrorCode(
  { iat }: Pick<LibrarySessionClaims, 'iat'>,
  facts: LibrarySessionFacts | undefined,
): ApiErrorCode | undefined {
  if (facts === undefined) return 'invalid_session';
  const { revoked_at_seconds, is_library_gone, key_status } = facts;
  const isBefore = revoked_at_seconds !== null && iat < revoked_at_seconds + CLOCKS_APART_SECONDS;
  if (isBefore || is_library_gone) return 'session_revoked';
  if (key_status !== 'active') return 'minting_key_revoked';
  return facts.status === 'active' ? undefined : 'project_suspended';
}

/**
 * Tokens carry the time of the process that minted them, revocations that of the database. During
 * the pause after a revocation no token is minted, so a clock may be off by half the pause without
 * letting a revoked token through.
 */
const CLOCKS_APART_SECONDS = LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS / 2;
