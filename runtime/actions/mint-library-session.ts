/**
 * Mints library sessions: a token for one end user and one embedding origin, and the signed URL of the picker. The
 * audit entry is the only row written. Spec: Library session; Library sessions and the picker; Rules 5.
 */
import { ServiceError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { wrongInput } from '../core/input-issue.ts';
import {
  LIBRARY_SESSION_FILE_BYTES_DEFAULT,
  LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS,
} from '../core/limits.ts';
import { requireFolder } from '../core/resources/file-query.ts';
import {
  type CreateLibrarySession,
  hasExclusivePermissions,
  type LibrarySessionRecord,
} from '../core/resources/library-session.ts';
import { missingMintScopes } from '../core/scopes.ts';
import { signEmbedUrl } from '../core/signing/embed-url.ts';
import type { NamedKey } from '../core/signing/hmac.ts';
import { type LibrarySessionClaims, signLibrarySession } from '../core/signing/library-session.ts';
import { DEFAULT_LIBRARY } from '../core/slug.ts';
import type { AuthenticatedKeyRow } from '../db/api-keys.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Queryable } from '../db/client.ts';
import { findRevocationPause } from '../db/library-sessions.ts';
import type { ProjectRow } from '../db/projects.ts';
import type { Clock } from '../platform/clock.ts';
import { findRefreshedSession } from './find-refreshed-session.ts';
import { printUploaders } from './library-session-status.ts';
import { requireLibrary } from './require-place.ts';
import { requirePseudonyms } from './require-pseudonyms.ts';
import type { UploadAddresses } from './upload-methods.ts';

export type MintDeps = {
  db: Queryable;
  clock: Clock;
  libraryKeys: {
    readonly sessions: readonly NamedKey[];
    readonly embeds: readonly NamedKey[];
    readonly subjects: readonly Uint8Array[];
  };
  addresses: Pick<UploadAddresses, 'baseUrl' | 'proxyMaxBytes'>;
};

export type Mint = {
  key: Pick<AuthenticatedKeyRow, 'key_id' | 'scopes'>;
  project: ProjectRow;
  input: CreateLibrarySession;
  actor: Actor;
};

/** The claims that a refresh must not widen. */
export type SessionScope = Omit<LibrarySessionClaims, 'session_id' | 'iat' | 'exp'>;

/** Throws every error of a mint except library_sessions_disabled. */
export async function mintLibrarySession(
  deps: MintDeps,
  mint: Mint,
): Promise<LibrarySessionRecord> {
  const { project, input, actor } = mint;
  const scope = await scopeOf(deps, mint);
  const session_id =
    (await findRefreshedSession(deps, { scope, refresh_of: input.refresh_of })) ??
    newId('ses', deps.clock.now().getTime());
  const iat = Math.floor(deps.clock.now().getTime() / 1000);
  const claims = { session_id, ...scope, iat, exp: iat + input.expires_in };
  const { subject_mac: _mac, project_id, key_id: _key, iat: _iat, exp, ...fields } = claims;
  await insertAuditEntry(deps.db, {
    ...actor,
    project_id,
    action: 'library_session.mint',
    target: session_id,
    after: { ...fields, expires_at: printSeconds(exp) },
  });
  const { library_id: _id, ...shown } = fields;
  return {
    ...shown,
    token: signLibrarySession(firstOf(deps.libraryKeys.sessions), claims),
    embed_url: embedUrl(deps, project, claims),
    expires_at: printSeconds(exp),
  };
}

async function scopeOf(deps: MintDeps, mint: Mint): Promise<SessionScope> {
  const { key, project, input } = mint;
  const { project_id } = project;
  const { permissions, origin, max_uploads } = input;
  if (project.status !== 'active') throw new ServiceError('project_suspended');
  const uploaders = requirePseudonyms(deps.libraryKeys, { ...input, project_id });
  if (hasExclusivePermissions(permissions)) throw new ServiceError('invalid_permissions');
  const folder = requireFolder(input.folder);
  const max_file_bytes = fileBytesOf(deps, input);
  refuseScopes(mint);
  const library = await requireLibrary(deps.db, { project_id, library: input.library });
  const origins = [...project.library_origins, ...(library?.allowed_origins ?? [])];
  if (!origins.includes(origin)) throw new ServiceError('origin_not_allowed');
  await refusePause(deps.db, { project_id, uploaders });
  return {
    project_id,
    library: library?.library_slug ?? DEFAULT_LIBRARY,
    library_id: library?.library_id ?? null,
    folder,
    permissions,
    origin,
    subject_mac: printUploaders(uploaders),
    key_id: key.key_id,
    max_file_bytes,
    max_uploads,
  };
}

function refuseScopes({ key, project: { delivery_access }, input: { permissions } }: Mint): void {
  const missing = missingMintScopes(key.scopes, { permissions, delivery_access });
  if (missing.length === 0) return;
  const message = `The key lacks ${missing.join(' and ')}, which these permissions need. Mint with a key that has it, or ask for fewer permissions.`;
  throw new ServiceError('scope_missing', { message });
}

function fileBytesOf({ addresses }: MintDeps, { max_file_bytes }: CreateLibrarySession): number {
  const most = addresses.proxyMaxBytes;
  if (max_file_bytes === undefined) return Math.min(LIBRARY_SESSION_FILE_BYTES_DEFAULT, most);
  if (max_file_bytes <= most) return max_file_bytes;
  const message = `expected at most ${most}, the largest upload that this installation accepts from a picker`;
  throw wrongInput({ path: 'max_file_bytes', message });
}

async function refusePause(
  db: Queryable,
  asked: { project_id: string; uploaders: readonly Buffer[] },
): Promise<void> {
  const pause_seconds = LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS;
  const retryAfterSeconds = await findRevocationPause(db, { ...asked, pause_seconds });
  if (retryAfterSeconds > 0) {
    throw new ServiceError('sessions_recently_revoked', { retryAfterSeconds });
  }
}

/** Expires with the token. */
function embedUrl(
  { libraryKeys, addresses }: MintDeps,
  { project_slug: project }: ProjectRow,
  { library, origin: o, exp }: LibrarySessionClaims,
): string {
  const { id: kid, key } = firstOf(libraryKeys.embeds);
  const s = signEmbedUrl({ key, project, library, o, exp });
  const query = new URLSearchParams({ o, exp: String(exp), kid, s });
  return `${addresses.baseUrl}/embed/${project}/${library}?${query}`;
}

function firstOf([first]: readonly NamedKey[]): NamedKey {
  if (first === undefined) throw new TypeError('there is no key that signs library sessions');
  return first;
}

function printSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
