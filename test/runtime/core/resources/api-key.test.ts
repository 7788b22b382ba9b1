import { describe, expect, it } from 'vitest';
import { createApiKeyBody } from '../../../../runtime/core/resources/api-key.ts';

describe('createApiKeyBody', () => {
  it('accepts omitted scopes, rejects an empty list or an unknown scope, and drops repeats', () => {
    expect(createApiKeyBody.parse({ name: 'ci' })).toEqual({ name: 'ci' });
    expect(createApiKeyBody.safeParse({ name: 'ci', scopes: [] }).success).toBe(false);
    expect(createApiKeyBody.safeParse({ name: 'ci', scopes: ['files:delete'] }).success).toBe(
      false,
    );
    const scopes = ['urls:sign', 'files:read', 'urls:sign'];
    expect(createApiKeyBody.parse({ name: 'ci', scopes }).scopes).toEqual([
      'files:read',
      'urls:sign',
    ]);
  });
});
