/**
 * Creates, rotates and revokes a project's API keys, with the audit entry in the same transaction. The secret is
 * answered once, even if the answer to the commit was lost: the key is then found by its id. Spec: API key; API keys.
 */
import { ServiceError } from '../core/errors.ts';
import { isId, newId } from '../core/ids.ts';
import { printScopes } from '../core/scopes.ts';
import { newApiKey } from '../core/signing/api-key.ts';
import {
  type ApiKeyRow,
  findApiKey,
  insertApiKey,
  revokeApiKey as revokeRow,
  rotateApiKey as rotateRow,
} from '../db/api-keys.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Database, Queryable, Transaction } from '../db/client.ts';
import { lockProject } from '../db/projects.ts';
import type { Clock } from '../platform/clock.ts';

type Deps = { db: Database; clock: Clock };
type OfProject = { project_id: string; actor: Actor };
type OfKey = OfProject & { key_id: string };

export type MadeApiKey = { row: ApiKeyRow; plaintext_secret: string };

/** Throws api_key_quota_exceeded. */
export async function createApiKey(
  deps: Deps,
  { project_id, actor, ...input }: OfProject & Pick<ApiKeyRow, 'name' | 'scopes'>,
): Promise<MadeApiKey> {
  return make(deps, project_id, async (tx, key) => {
    const row = await insertApiKey(tx, { ...key, project_id, ...input });
    if (row === undefined) throw new ServiceError('api_key_quota_exceeded');
    const entry = { action: 'api_key.create', target: row.key_id, after: factsOf(row) };
    await insertAuditEntry(tx, { ...actor, project_id, ...entry });
    return row;
  });
}

/** The new key takes over the old one's name and scopes. Throws api_key_revoked and not_found. */
export async function rotateApiKey(
  deps: Deps,
  { project_id, key_id: old_key_id, actor }: OfKey,
): Promise<MadeApiKey> {
  return make(deps, project_id, async (tx, { key_id: new_key_id, ...secret }) => {
    await findKey(tx, { project_id, key_id: old_key_id });
    const row = await rotateRow(tx, { project_id, old_key_id, new_key_id, ...secret });
    if (row === undefined) throw new ServiceError('api_key_revoked');
    const entry = { action: 'api_key.rotate', target: old_key_id };
    const after = { id: new_key_id, ...factsOf(row) };
    await insertAuditEntry(tx, { ...actor, project_id, ...entry, after });
    return row;
  });
}

/** An already revoked key is returned unchanged. Throws not_found. */
export async function revokeApiKey(
  { db }: Deps,
  { project_id, key_id, actor }: OfKey,
): Promise<ApiKeyRow> {
  return db.transaction(async (tx) => {
    await lockProject(tx, project_id);
    const key = await findKey(tx, { project_id, key_id });
    if (key.status === 'revoked') return key;
    const entry = { action: 'api_key.revoke', target: key_id, before: factsOf(key) };
    await insertAuditEntry(tx, { ...actor, project_id, ...entry });
    return (await revokeRow(tx, key)) ?? key;
  });
}

type NewKey = Omit<ReturnType<typeof newApiKey>, 'plaintext_secret'> & { key_id: string };

async function make(
  { db, clock }: Deps,
  project_id: string,
  work: (tx: Transaction, key: NewKey) => Promise<ApiKeyRow>,
): Promise<MadeApiKey> {
  const { plaintext_secret, ...secret } = newApiKey();
  const key_id = newId('key', clock.now().getTime());
  const row = await db.transaction((tx) => work(tx, { key_id, ...secret }), {
    settle: (fresh) => findApiKey(fresh, { project_id, key_id }),
  });
  return { row, plaintext_secret };
}

async function findKey(
  db: Queryable,
  key: { project_id: string; key_id: string },
): Promise<ApiKeyRow> {
  const found = isId('key', key.key_id) ? await findApiKey(db, key) : undefined;
  if (found === undefined) throw new ServiceError('not_found');
  return found;
}

function factsOf({ name, scopes, last_four }: ApiKeyRow) {
  return { name, scopes: printScopes(scopes), last_four };
}
