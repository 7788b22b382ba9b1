/**
 * What an API key may do, and what a library session needs of the key that mints it.
 * Spec: API key (scopes); Credentials, Rules 2, 3 and 5.
 */

/** Every scope, in the specification's order. A key without a list has them all. */
export const apiKeyScopes = [
  'files:read',
  'files:write',
  'urls:sign',
  'recipes:read',
  'recipes:write',
  'library:sessions',
] as const;

/** A scope of an API key. */
export type Scope = (typeof apiKeyScopes)[number];

/** Whether a key with these scopes (null: full access) may do what `scope` names. */
export function hasScope(scopes: readonly string[] | null, scope: Scope): boolean {
  return scopes === null || scopes.includes(scope);
}

/** The scopes of a key as lists show them: all of them where none were chosen. */
export function printScopes(scopes: readonly string[] | null): Scope[] {
  return apiKeyScopes.filter((scope) => hasScope(scopes, scope));
}

/** Spec: Rules 5, the scope that each permission of a library session needs besides library:sessions. */
export const permissionScopes = {
  browse: 'files:read',
  browse_own: 'files:read',
  upload: 'files:write',
} as const satisfies Record<string, Scope>;

/** A permission of a library session. */
export type LibraryPermission = keyof typeof permissionScopes;

/** The permissions in the specification's order. */
export const libraryPermissions = [
  'browse',
  'browse_own',
  'upload',
] as const satisfies readonly LibraryPermission[];

/** What a mint asks for; `delivery_access` is that of the scope's project. */
export type MintRequest = {
  permissions: readonly LibraryPermission[];
  delivery_access: 'public' | 'protected';
};

/** Scopes that the minting key lacks; not empty means 403 scope_missing. */
export function missingMintScopes(scopes: readonly string[] | null, mint: MintRequest): Scope[] {
  const needed = new Set<Scope>(mint.permissions.map((permission) => permissionScopes[permission]));
  if (mint.delivery_access === 'protected') needed.add('urls:sign');
  return [...needed].filter((scope) => !hasScope(scopes, scope));
}
