/** A signing key's row as the API answers it, never its secret. Spec: Signing key. */
import type { SigningKeyRecord } from '../../core/resources/signing-key.ts';
import type { SigningKeyRow } from '../../db/signing-keys.ts';

export function presentSigningKey(row: SigningKeyRow): SigningKeyRecord {
  const { kid, status, retire_after, created_at, updated_at } = row;
  return {
    kid,
    status,
    retire_after: retire_after?.toISOString() ?? null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
