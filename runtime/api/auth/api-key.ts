/**
 * Project API keys. A missing, mistyped, revoked or rotated key and a key of a suspended project
 * do not authenticate. Spec: Authentication, Credentials (ApiKey, ApiKeyHeader); Rules 2.
 */
import { ServiceError } from '../../core/errors.ts';
import { hashApiKey, isApiKey } from '../../core/signing/api-key.ts';
import { findApiKeyByHash, updateApiKeyLastUsed } from '../../db/api-keys.ts';
import type { Database } from '../../db/client.ts';
import type { Log } from '../../platform/log.ts';
import type { KeyPrincipal } from './principal.ts';

export async function authenticateKey(
  { db, log }: { db: Database; log: Log },
  secret: string,
): Promise<KeyPrincipal> {
  if (!isApiKey(secret)) throw new ServiceError('unauthorized');
  const key = await findApiKeyByHash(db, hashApiKey(secret));
  if (key?.project.status !== 'active') throw new ServiceError('unauthorized');
  // The time of last use is a convenience: failing to write it refuses nobody.
  if (key.is_use_due) {
    await updateApiKeyLastUsed(db, key.key_id).catch((error: unknown) => {
      log.warn('last use of a key not recorded', { key_id: key.key_id, error });
    });
  }
  return { kind: 'key', key };
}
