// Spec: API key (scopes); Rules 2, 3 and 5; Library sessions and the picker.
import { describe, expect, it } from 'vitest';
import {
  apiKeyScopes,
  hasScope,
  libraryPermissions,
  missingMintScopes,
  permissionScopes,
} from '../../runtime/core/scopes.ts';
import { differences, NONE, tableOf } from './differences.ts';
import specification from './scopes.json' with { type: 'json' };

describe('scopes', () => {
  it('the scopes of API keys are those of the specification, in its order', () => {
    expect(apiKeyScopes).toEqual(specification.scopes.rows);
  });

  it('a key without a list of scopes has all of them, and one with an empty list has none', () => {
    expect(apiKeyScopes.filter((scope) => !hasScope(null, scope))).toEqual([]);
    expect(apiKeyScopes.filter((scope) => hasScope([], scope))).toEqual([]);
  });

  it('each permission of a library session needs the scope of the specification', () => {
    const expected = tableOf(
      specification.session_permissions.rows,
      (row) => row.permission,
      (row) => row.needs,
    );
    expect(differences(expected, permissionScopes)).toEqual(NONE);
    expect(libraryPermissions).toEqual(Object.keys(expected));
  });

  it('minting a session for protected delivery also needs urls:sign', () => {
    const mint = { permissions: ['browse'], delivery_access: 'protected' } as const;
    const { protected_scope_needs: needed } = specification.session_permissions;
    expect(missingMintScopes(['files:read'], mint)).toEqual([needed]);
    expect(missingMintScopes(['files:read', needed], mint)).toEqual([]);
  });
});
