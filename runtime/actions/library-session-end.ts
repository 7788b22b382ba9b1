/** Why a library session whose token verifies is over all the same. Spec: Authentication, Rules 6. */
import type { ApiErrorCode } from '../core/errors.ts';
import { LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS } from '../core/limits.ts';
import type { LibrarySessionClaims } from '../core/signing/library-session.ts';
import type { Queryable } from '../db/client.ts';
import { findLibrarySessionFacts, type LibrarySessionFacts } from '../db/library-sessions.ts';

/** The pseudonyms of a token's subject: one for each key that there was when it was minted. */
export function uploadersOf({ subject_mac }: Pick<LibrarySessionClaims, 'subject_mac'>): Buffer[] {
  return subject_mac.split(MAC_SEPARATOR).map((mac) => Buffer.from(mac, 'base64url'));
}

export function printUploaders(uploaders: readonly Buffer[]): string {
  return uploaders.map((uploader) => uploader.toString('base64url')).join(MAC_SEPARATOR);
}

const MAC_SEPARATOR = '.';

export function findFactsOf(
  db: Queryable,
  claims: LibrarySessionClaims,
): Promise<LibrarySessionFacts | undefined> {
  return findLibrarySessionFacts(db, { ...claims, uploaders: uploadersOf(claims) });
}

/** Undefined while it goes on. */
export function endOf(
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
 * Tokens tell the time of the process that minted them, revocations that of the database. In the pause behind a
 * revocation none is minted, so that a clock may be wrong by half of it without letting a revoked one through.
 */
const CLOCKS_APART_SECONDS = LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS / 2;
