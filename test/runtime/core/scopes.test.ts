import { describe, expect, it } from 'vitest';
import {
  apiKeyScopes,
  hasScope,
  missingMintScopes,
  printScopes,
} from '../../../runtime/core/scopes.ts';

describe('scopes of an API key', () => {
  it('a key without scopes has them all', () => {
    for (const scope of apiKeyScopes) expect(hasScope(null, scope)).toBe(true);
    expect(printScopes(null)).toEqual(apiKeyScopes);
  });

  it('a key with scopes has only those', () => {
    const scopes = ['files:read', 'urls:sign'];
    expect(apiKeyScopes.filter((scope) => hasScope(scopes, scope))).toEqual(scopes);
    expect(printScopes(['urls:sign', 'files:read', 'unknown'])).toEqual(scopes);
  });
});

describe('missingMintScopes', () => {
  it.each([
    [['browse'], 'public', ['files:read']],
    [['browse_own'], 'public', ['files:read']],
    [['upload'], 'public', ['files:write']],
    [['browse', 'upload'], 'public', ['files:read', 'files:write']],
    [['upload'], 'protected', ['files:write', 'urls:sign']],
  ] as const)(
    'reports for permissions %j on a %s project the missing scopes %j',
    (permissions, delivery_access, needed) => {
      const mint = { permissions, delivery_access };
      expect(missingMintScopes(['library:sessions'], mint)).toEqual(needed);
      expect(missingMintScopes(needed, mint)).toEqual([]);
      expect(missingMintScopes(null, mint)).toEqual([]);
    },
  );
});
