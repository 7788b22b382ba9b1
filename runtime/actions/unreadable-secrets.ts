/**
 * Whether the configured key-encryption keys open what the database holds: one value of each key in each column is
 * tried, however many there are. Spec: Signing key; Events, Signature rules.
 */
import type { Queryable } from '../db/client.ts';
import { compareMigrations } from '../db/migrate.ts';
import { listSealingKeys, sealedColumns } from '../db/sealed-values.ts';
import type { Log } from '../platform/log.ts';
import {
  createSealing,
  type KeyEncryptionKey,
  MissingKey,
  type Sealing,
} from '../platform/sealing.ts';
import { sealedContexts } from '../platform/sealing-contexts.ts';

export type SealingKeys = {
  /** Every key that seals something in the database. */
  used: string[];
  /** Those of them that are not configured. */
  missing: string[];
  /** Those that are configured, but do not open what bears their id. */
  different: string[];
};

export async function findSealingKeys(db: Queryable, sealing: Sealing): Promise<SealingKeys> {
  const [used, missing, different] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const place of sealedColumns) {
    for (const { key_id, owner, sealed } of await listSealingKeys(db, place)) {
      used.add(key_id);
      try {
        sealing.open(sealed, sealedContexts[place.table](owner));
      } catch (error) {
        (error instanceof MissingKey ? missing : different).add(key_id);
      }
    }
  }
  return { used: [...used], missing: [...missing], different: [...different] };
}

/** What to do about each kind of key that opens nothing. */
export const SEALING_ADVICE = {
  missing:
    'add the key to TINTYPE_KEY_ENCRYPTION_KEYS after the first one, restart, and run `tintype job reseal` before you remove it again',
  different:
    'give the key that TINTYPE_KEY_ENCRYPTION_KEYS had under this id; a new key needs a new id',
} as const;

/**
 * At the start of a process. Only tells: what was sealed under other keys still opens. The operator
 * may start before the database is migrated; nothing is told then.
 */
export async function tellUnreadableSecrets(
  db: Queryable,
  { keys, log }: { keys: readonly KeyEncryptionKey[]; log: Log },
): Promise<void> {
  try {
    if ((await compareMigrations(db)).missing.length > 0) return;
    const { missing, different } = await findSealingKeys(db, createSealing(keys));
    for (const key_id of missing) {
      const advice = SEALING_ADVICE.missing;
      log.error('secrets in the database are encrypted with a key that is missing', {
        key_id,
        advice,
      });
    }
    for (const key_id of different) {
      const advice = SEALING_ADVICE.different;
      log.error('secrets in the database do not open with their key', { key_id, advice });
    }
  } catch (error) {
    log.warn('whether the keys open what the database holds was not checked', { error });
  }
}
