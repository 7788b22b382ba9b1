/** An API key's row as the API answers it: with all scopes, never the secret. Spec: API key. */
import type { ApiKeyRecord } from '../../core/resources/api-key.ts';
import { printScopes } from '../../core/scopes.ts';
import type { ApiKeyRow } from '../../db/api-keys.ts';

export function presentApiKey(row: ApiKeyRow): ApiKeyRecord {
  const { name, prefix, last_four, status, scopes } = row;
  return {
    id: row.key_id,
    name,
    scopes: printScopes(scopes),
    prefix,
    last_four,
    status,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
