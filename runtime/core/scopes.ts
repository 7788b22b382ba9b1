/**
 * What an API key may do, and which scopes a key needs to mint a library session. Spec: API key (scopes); Credentials,
 * Rules 2, 3 and 5.
 */

/** Every scope, in the specification's order. A key without a list has all of them. */
export const apiKeyScopes = [
  'files:read',
  'files:write',
  'urls:sign',
  'recipes:read',
  'recipes:write',
  'library:sessions',
] as const;

export type Scope = (typeof apiKeyScopes)[number];

/** Whether a key with these scopes (null: full access) has `scope`. */
export function hasScope(scopes: readonly string[] | null, scope: Scope): boolean {
  return scopes === null || scopes.includes(scope);
}

/** The scopes of a key as lists show them: all when none were chosen. */
export function printScopes(scopes: readonly string[] | null): Scope[] {
  return apiKeyScopes.filter((scope) => hasScope(scopes, scope));
}

/**
 * Spec: Rules 5, the scope that each permission of a library session needs in addition to
 * library:sessions.
 */
export const permissionScopes = {
  browse: 'files:read',
  browse_own: 'files:read',
  upload: 'files:write',
} as const satisfies Record<string, Scope>;

export type LibraryPermission = keyof typeof permissionScopes;

/** The permissions in the specification's order. */
export const libraryPermissions = [
  'browse',
  'browse_own',
  'upload',
] as const satisfies readonly LibraryPermission[];

/** What a mint requests; `delivery_access` belongs to the project of the scope. */
export type MintRequest = {
  permissions: readonly LibraryPermission[];
  delivery_access: 'public' | 'protected';
};

/** Scopes that the minting key lacks; if there are any, the answer is 403 scope_missing. */
export function missingMintScopes(scopes: readonly string[] | null, mint: MintRequest): Scope[] {
  const needed = new Set<Scope>(mint.permissions.map((permission) => permissionScopes[permission]));
  if (mint.delivery_access === 'protected') needed.add('urls:sign');
  return [...needed].filter((scope) => !hasScope(scopes, scope));
}
