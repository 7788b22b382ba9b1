// The picker's token: ls1.{kid}.{payload}.{mac}. Spec: Library session;
// Authentication, Credentials, LibrarySession. The payload is base64url JSON, readable but
// tamper-proof; the mac covers "ls1.{kid}.{payload}".
import { z } from 'zod';
import { parseAnyJson } from '../json.ts';
import { libraryPermissions } from '../scopes.ts';
import { findKey, type NamedKey, signFields, verifyFields } from './hmac.ts';

const PREFIX = 'ls1';
const TOKEN_SHAPE = /^ls1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;
const TOKEN_CHARACTERS_MAX = 4096;

const claimsSchema = z.strictObject({
  session_id: z.string().min(1),
  project_id: z.string().min(1),
  library: z.string().min(1),
  library_id: z.string().min(1).nullable(),
  folder: z.string(),
  permissions: z.array(z.enum(libraryPermissions)).min(1),
  origin: z.string().min(1),
  subject_mac: z.string().min(1),
  key_id: z.string().min(1),
  max_file_bytes: z.int().positive(),
  max_uploads: z.int().positive(),
  iat: z.int().nonnegative(),
  exp: z.int().nonnegative(),
});

/**
 * What a library session may do and for whom. `subject_mac` represents the subject, which the token
 * never shows; `library_id` is null for the default library; iat and exp in Unix seconds.
 */
export type LibrarySessionClaims = Readonly<z.infer<typeof claimsSchema>>;

/**
 * The result of verifying a token; an expired one still returns its claims, because it may be
 * refreshed for a while.
 */
export type LibrarySessionVerdict =
  | { readonly outcome: 'valid' | 'session_expired'; readonly claims: LibrarySessionClaims }
  | { readonly outcome: 'invalid_session' };

export function signLibrarySession(key: NamedKey, claims: LibrarySessionClaims): string {
  const payload = Buffer.from(JSON.stringify(claimsSchema.parse(claims))).toString('base64url');
  const fields = [PREFIX, key.id, payload];
  return [...fields, signFields(key.key, '.', fields)].join('.');
}

/** Whether a bearer credential is of this kind, by its prefix. */
export function isLibrarySession(token: string): boolean {
  return token.startsWith(`${PREFIX}.`);
}

/** Verifies a token; revocation is checked in the database. */
export function verifyLibrarySession(
  keys: readonly NamedKey[],
  token: string,
  nowSeconds: number,
): LibrarySessionVerdict {
  const claims = verifiedClaims(keys, token);
  if (claims === undefined) return { outcome: 'invalid_session' };
  return { outcome: nowSeconds < claims.exp ? 'valid' : 'session_expired', claims };
}

function verifiedClaims(
  keys: readonly NamedKey[],
  token: string,
): LibrarySessionClaims | undefined {
  const parts = token.length > TOKEN_CHARACTERS_MAX ? null : TOKEN_SHAPE.exec(token);
  const [, kid = '', payload = '', sig = ''] = parts ?? [];
  const key = findKey(keys, kid);
  if (key === undefined) return undefined;
  if (!verifyFields([key], '.', { fields: [PREFIX, kid, payload], sig })) return undefined;
  return claimsSchema.safeParse(parseAnyJson(Buffer.from(payload, 'base64url').toString())).data;
}
