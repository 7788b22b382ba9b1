// Table signing_keys: one active key per project; its predecessors verify until their retire_after. Spec: Signing key.
import { KEYS_LISTED_MAX } from '../core/limits.ts';
import type { Queryable, Transaction } from './client.ts';
import { STATEMENT_TIME } from './database-time.ts';
import type { OwnerColumns } from './declared-rows.ts';
import { prepared } from './prepared-statements.ts';
import { lockProjectRow } from './projects.ts';
import { onlyRow } from './rows.ts';

export type SigningKeyRow = OwnerColumns & {
  kid: string;
  project_id: string;
  secret_sealed: Buffer;
  status: 'active' | 'retired';
  retire_after: Date | null;
  /** Whether a signature by it is accepted now, by the database's clock. */
  is_verifying: boolean;
  rotation_trigger: string | null;
  created_at: Date;
  updated_at: Date;
};

export type SigningKeyOwner = { owner_uid: string; owner_namespace: string; owner_name: string };

export type NewSigningKey = Pick<SigningKeyRow, 'kid' | 'project_id' | 'secret_sealed'> & {
  rotation_trigger?: string | null;
  owner?: SigningKeyOwner | null;
};

const COLUMNS = `*, status = 'active' or retire_after > now() as is_verifying`;

/**
 * The first key of a project, or the next one after the active key was retired: see
 * rotateSigningKey.
 */
export async function insertSigningKey(
  tx: Transaction,
  key: NewSigningKey,
): Promise<SigningKeyRow> {
  const [row] = await tx.query<SigningKeyRow>(
    `insert into signing_keys
       (kid, project_id, secret_sealed, rotation_trigger, owner_uid, owner_namespace, owner_name, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, ${STATEMENT_TIME}, ${STATEMENT_TIME}) returning ${COLUMNS}`,
    [
      key.kid,
      key.project_id,
      key.secret_sealed,
      key.rotation_trigger ?? null,
      key.owner?.owner_uid ?? null,
      key.owner?.owner_namespace ?? null,
      key.owner?.owner_name ?? null,
    ],
  );
  return onlyRow(row);
}

/**
 * Sets the active key to retire after the overlap, from now, and activates this one; parallel
 * rotations are serialized.
 */
export async function rotateSigningKey(
  tx: Transaction,
  key: NewSigningKey & { overlap_seconds: number },
): Promise<SigningKeyRow> {
  await lockProjectRow(tx, key.project_id);
  await tx.query(
    `update signing_keys set status = 'retired', updated_at = ${STATEMENT_TIME},
       retire_after = ${STATEMENT_TIME} + make_interval(secs => $2)
     where project_id = $1 and status = 'active'`,
    [key.project_id, key.overlap_seconds],
  );
  return insertSigningKey(tx, key);
}

const ACTIVE = prepared(
  `select ${COLUMNS} from signing_keys where project_id = $1 and status = 'active'`,
);

export async function findActiveSigningKey(
  db: Queryable,
  projectId: string,
): Promise<SigningKeyRow | undefined> {
  return (await db.query<SigningKeyRow>(ACTIVE, [projectId]))[0];
}

/** How many keys of a project verify now, and in how many seconds the first of them expires. */
export async function countVerifyingKeys(
  db: Queryable,
  projectId: string,
): Promise<{ count: number; seconds: number }> {
  const [row] = await db.query<{ count: number; seconds: number }>(
    `select count(*) as count,
       coalesce(greatest(1, ceil(extract(epoch from min(retire_after) - clock_timestamp()))), 1)::integer as seconds
     from signing_keys where project_id = $1 and (status = 'active' or retire_after > clock_timestamp())`,
    [projectId],
  );
  return onlyRow(row);
}

/**
 * The newest keys of a project, newest first, with the active one before all; keys that verify have
 * is_verifying.
 */
export async function listSigningKeys(db: Queryable, projectId: string): Promise<SigningKeyRow[]> {
  return db.query(
    `select ${COLUMNS} from signing_keys where project_id = $1
     order by created_at desc, kid desc limit $2`,
    [projectId, KEYS_LISTED_MAX],
  );
}

/** Writes the owner of the active key; null releases it. */
export async function updateSigningKeyOwner(
  db: Queryable,
  {
    kid,
    owner,
    rotation_trigger,
  }: {
    kid: string;
    owner: SigningKeyOwner | null;
    rotation_trigger: string | null;
  },
): Promise<SigningKeyRow | undefined> {
  const rows = await db.query<SigningKeyRow>(
    `update signing_keys set owner_uid = $2, owner_namespace = $3, owner_name = $4,
       rotation_trigger = $5, updated_at = now()
     where kid = $1 returning ${COLUMNS}`,
    [
      kid,
      owner?.owner_uid ?? null,
      owner?.owner_namespace ?? null,
      owner?.owner_name ?? null,
      rotation_trigger,
    ],
  );
  return rows[0];
}
