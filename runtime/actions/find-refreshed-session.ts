/**
 * The session that a mint continues, found by the token that it refreshes, so that the picker keeps its uploads and
 * their count.
 * Spec: Library sessions and the picker (refresh_of).
 */
import { ServiceError } from '../core/errors.ts';
import { isFolderWithin } from '../core/folder.ts';
import { LIBRARY_SESSION_REFRESH_GRACE_SECONDS_MAX } from '../core/limits.ts';
import {
  type LibrarySessionClaims,
  verifyLibrarySession,
} from '../core/signing/library-session.ts';
import { findSessionFacts, sessionErrorCode, uploadersOf } from './library-session-status.ts';
import type { MintDeps, SessionScope } from './mint-library-session.ts';

type Refresh = { scope: SessionScope; refresh_of: string | undefined };

/**
 * The id of the session to continue. Undefined if a new one begins: refresh_of is missing, or its
 * token does not verify, expired too long ago, or was revoked. Throws refresh_mismatch.
 */
export async function findRefreshedSession(
  { db, clock, libraryKeys }: Pick<MintDeps, 'db' | 'clock' | 'libraryKeys'>,
  { scope, refresh_of }: Refresh,
): Promise<string | undefined> {
  if (refresh_of === undefined) return undefined;
  const now = Math.floor(clock.now().getTime() / 1000);
  const verdict = verifyLibrarySession(libraryKeys.sessions, refresh_of, now);
  if (verdict.outcome === 'invalid_session') return undefined;
  const { claims } = verdict;
  if (now > claims.exp + LIBRARY_SESSION_REFRESH_GRACE_SECONDS_MAX) return undefined;
  const isEnded = sessionErrorCode(claims, await findSessionFacts(db, claims)) !== undefined;
  if (isEnded) return undefined;
  refuseMismatch(claims, scope);
  return claims.session_id;
}

function refuseMismatch(old: LibrarySessionClaims, scope: SessionScope): void {
  const differing = Object.entries(FITS).filter(([, fits]) => !fits(old, scope));
  if (differing.length === 0) return;
  const fields = differing.map(([field]) => field).join(', ');
  const message = `The new session differs from the one that it refreshes, or would allow more, in ${fields}. Ask for the same or less, or leave refresh_of out.`;
  throw new ServiceError('refresh_mismatch', { message });
}

/** Rules for each field: what must be equal, and what may only shrink. */
const FITS: Readonly<Record<string, (old: LibrarySessionClaims, scope: SessionScope) => boolean>> =
  {
    project: (old, { project_id }) => old.project_id === project_id,
    library: (old, { library_id }) => old.library_id === library_id,
    origin: (old, { origin }) => old.origin === origin,
    subject: isSameSubject,
    folder: (old, { folder }) => isFolderWithin(folder, old.folder),
    permissions: (old, { permissions }) =>
      permissions.every((one) => old.permissions.includes(one) || isOwnOf(old, one)),
    max_file_bytes: (old, { max_file_bytes }) => max_file_bytes <= old.max_file_bytes,
    max_uploads: (old, { max_uploads }) => max_uploads <= old.max_uploads,
  };

/** Keys are added and removed at the ends of the list, so one common pseudonym is enough. */
function isSameSubject(old: LibrarySessionClaims, scope: SessionScope): boolean {
  const known = uploadersOf(old);
  return uploadersOf(scope).some((mac) => known.some((other) => other.equals(mac)));
}

/** `browse` includes `browse_own`. */
function isOwnOf({ permissions }: LibrarySessionClaims, asked: string): boolean {
  return asked === 'browse_own' && permissions.includes('browse');
}
