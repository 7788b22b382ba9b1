// Table api_keys: credentials of server code, bound to one project. Spec: API key.
import { API_KEYS_ACTIVE_MAX, KEYS_LISTED_MAX } from '../core/limits.ts';
import type { Queryable, Transaction } from './client.ts';
import { prepared } from './prepared-statements.ts';
import { lockProjectRow, PROJECT_COLUMNS, type ProjectRow } from './projects.ts';
import { prefixedColumns, splitRow } from './rows.ts';

export type ApiKeyRow = {
  key_id: string;
  project_id: string;
  name: string;
  /** Null: every scope. */
  scopes: string[] | null;
  secret_sha256: string;
  prefix: string;
  last_four: string;
  status: 'active' | 'revoked';
  last_used_at: Date | null;
  revoked_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

/** An active key with its project, in one query: nearly every call with a key needs both. */
export type AuthenticatedKeyRow = ApiKeyRow & {
  project: ProjectRow;
  /**
   * Whether to record this use: the last one is more than a minute ago, by the database's clock.
   */
  is_use_due: boolean;
};

const IS_USE_DUE = `(k.last_used_at is null or k.last_used_at < now() - interval '60 seconds')`;

const KEY_COLUMNS = [
  'key_id',
  'project_id',
  'name',
  'scopes',
  'secret_sha256',
  'prefix',
  'last_four',
  'status',
  'last_used_at',
  'revoked_at',
  'created_at',
  'updated_at',
] as const satisfies (keyof ApiKeyRow)[];

const BY_HASH = prepared(
  `select ${PROJECT_COLUMNS}, ${prefixedColumns('k', KEY_COLUMNS)},
     ${IS_USE_DUE} as is_use_due
   from api_keys k
     join projects p on p.project_id = k.project_id
     join organizations o on o.organization_id = p.organization_id
   where k.secret_sha256 = $1 and k.status = 'active'`,
);

export type NewApiKey = Pick<
  ApiKeyRow,
  'key_id' | 'project_id' | 'name' | 'scopes' | 'secret_sha256' | 'prefix' | 'last_four'
>;

/**
 * Undefined if the project already has the maximum of active keys. Parallel calls are serialized by
 * the project's row lock.
 */
export async function insertApiKey(
  tx: Transaction,
  key: NewApiKey,
): Promise<ApiKeyRow | undefined> {
  await lockProjectRow(tx, key.project_id);
  const rows = await tx.query<ApiKeyRow>(
    `insert into api_keys (key_id, project_id, name, scopes, secret_sha256, prefix, last_four)
     select $1, $2, $3, $4, $5, $6, $7
     where (select count(*) from api_keys where project_id = $2 and status = 'active') < $8
     returning *`,
    [
      key.key_id,
      key.project_id,
      key.name,
      key.scopes,
      key.secret_sha256,
      key.prefix,
      key.last_four,
      API_KEYS_ACTIVE_MAX,
    ],
  );
  return rows[0];
}

export type ApiKeyRotation = Pick<
  ApiKeyRow,
  'project_id' | 'secret_sha256' | 'prefix' | 'last_four'
> & {
  old_key_id: string;
  new_key_id: string;
};

/**
 * Revokes the old key and creates one with its name and scopes. Undefined if the old one is not
 * active. Locks the project's row first, like the creation of a key, so that the two cannot
 * deadlock.
 */
export async function rotateApiKey(
  tx: Transaction,
  rotation: ApiKeyRotation,
): Promise<ApiKeyRow | undefined> {
  await lockProjectRow(tx, rotation.project_id);
  const rows = await tx.query<ApiKeyRow>(
    `with revoked as (
       update api_keys set status = 'revoked', revoked_at = now(), updated_at = now()
       where project_id = $1 and key_id = $2 and status = 'active' returning project_id, name, scopes
     )
     insert into api_keys (key_id, project_id, name, scopes, secret_sha256, prefix, last_four)
     select $3, project_id, name, scopes, $4, $5, $6 from revoked returning *`,
    [
      rotation.project_id,
      rotation.old_key_id,
      rotation.new_key_id,
      rotation.secret_sha256,
      rotation.prefix,
      rotation.last_four,
    ],
  );
  return rows[0];
}

/** The key, revoked now or before; undefined if the project has no such key. */
export async function revokeApiKey(
  db: Queryable,
  { project_id, key_id }: { project_id: string; key_id: string },
): Promise<ApiKeyRow | undefined> {
  const rows = await db.query<ApiKeyRow>(
    `update api_keys set status = 'revoked', revoked_at = coalesce(revoked_at, now()),
       updated_at = case when revoked_at is null then now() else updated_at end
     where project_id = $1 and key_id = $2 returning *`,
    [project_id, key_id],
  );
  return rows[0];
}

export async function findApiKey(
  db: Queryable,
  { project_id, key_id }: { project_id: string; key_id: string },
): Promise<ApiKeyRow | undefined> {
  const rows = await db.query<ApiKeyRow>(
    'select * from api_keys where project_id = $1 and key_id = $2',
    [project_id, key_id],
  );
  return rows[0];
}

/** The active key with this secret, even if its project is suspended: the caller refuses that. */
export async function findApiKeyByHash(
  db: Queryable,
  secretSha256: string,
): Promise<AuthenticatedKeyRow | undefined> {
  const [row] = await db.query<{ is_use_due: boolean }>(BY_HASH, [secretSha256]);
  if (row === undefined) return undefined;
  const { is_use_due, ...both } = row;
  const { apart: key, rest: project } = splitRow<ApiKeyRow, ProjectRow>(both, 'k');
  return { ...key, project, is_use_due };
}

/** A project's keys, newest first: all active ones, and the newest of all. */
export async function listApiKeys(db: Queryable, projectId: string): Promise<ApiKeyRow[]> {
  return db.query(
    `(select * from api_keys where project_id = $1 and status = 'active')
     union
     (select * from api_keys where project_id = $1 order by created_at desc, key_id desc limit $2)
     order by created_at desc, key_id desc`,
    [projectId, KEYS_LISTED_MAX],
  );
}

/**
 * Records the use of a key, at most once a minute, so that a busy key does not write its row
 * constantly.
 */
export async function updateApiKeyLastUsed(db: Queryable, keyId: string): Promise<void> {
  await db.query(`update api_keys k set last_used_at = now() where key_id = $1 and ${IS_USE_DUE}`, [
    keyId,
  ]);
}
