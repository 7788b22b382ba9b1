// Table idempotency_keys: which calls with an Idempotency-Key are under way, and the responses to finished ones. Times
// are the database's. Spec: Conventions; Codes by status (ours: idempotency_key_reused).
import { IDEMPOTENCY_LEASE_SECONDS, IDEMPOTENCY_LIFETIME_SECONDS } from '../core/limits.ts';
import type { Queryable } from './client.ts';
import { deleteRowsOlderThan } from './delete-rows.ts';

/** A key is unique within these. */
export type IdempotencyScope = {
  caller: string;
  /** Empty if the call names no project. */
  project_slug: string;
  idempotency_key: string;
};

export type IdempotencyClaim = IdempotencyScope & { request_hash: Buffer; claim_id: string };

export type IdempotencyRow = IdempotencyClaim & {
  lease_until: Date;
  /** Null while the call is processed. */
  status: number | null;
  sealed_answer: Buffer | null;
  created_at: Date;
};

/**
 * True for exactly one of several callers: the key is new, a day old, or its process ended without
 * a response.
 */
export async function claimIdempotencyKey(
  db: Queryable,
  claim: IdempotencyClaim,
): Promise<boolean> {
  const rows = await db.query(
    `insert into idempotency_keys as held (caller, project_slug, idempotency_key, request_hash, claim_id, lease_until)
     values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
     on conflict (caller, project_slug, idempotency_key) do update
       set request_hash = excluded.request_hash, claim_id = excluded.claim_id, lease_until = excluded.lease_until,
         status = null, sealed_answer = null, created_at = now()
       where held.created_at <= now() - make_interval(secs => $7)
         or (held.status is null and held.lease_until <= now())
     returning claim_id`,
    [
      ...scopeValues(claim),
      claim.request_hash,
      claim.claim_id,
      IDEMPOTENCY_LEASE_SECONDS,
      IDEMPOTENCY_LIFETIME_SECONDS,
    ],
  );
  return rows.length === 1;
}

export async function findIdempotencyKey(
  db: Queryable,
  scope: IdempotencyScope,
): Promise<IdempotencyRow | undefined> {
  const rows = await db.query<IdempotencyRow>(
    `select * from idempotency_keys where caller = $1 and project_slug = $2 and idempotency_key = $3`,
    scopeValues(scope),
  );
  return rows[0];
}

/** False if another process has the claim by now: then the effect must not be committed either. */
export async function updateIdempotencyAnswer(
  db: Queryable,
  claim: IdempotencyClaim,
  answer: { status: number; sealed_answer: Buffer },
): Promise<boolean> {
  const rows = await db.query(
    `update idempotency_keys set status = $5, sealed_answer = $6
     where caller = $1 and project_slug = $2 and idempotency_key = $3 and claim_id = $4 and status is null
     returning claim_id`,
    [...scopeValues(claim), claim.claim_id, answer.status, answer.sealed_answer],
  );
  return rows.length === 1;
}

/** For a refused call: it had no effect, and the key is free again. */
export async function deleteIdempotencyClaim(
  db: Queryable,
  claim: IdempotencyClaim,
): Promise<void> {
  await db.query(
    `delete from idempotency_keys
     where caller = $1 and project_slug = $2 and idempotency_key = $3 and claim_id = $4 and status is null`,
    [...scopeValues(claim), claim.claim_id],
  );
}

/** Returns how many rows were deleted. */
export function deleteOldIdempotencyKeys(db: Queryable): Promise<number> {
  const age = { table: 'idempotency_keys', column: 'created_at' };
  return deleteRowsOlderThan(db, age, IDEMPOTENCY_LIFETIME_SECONDS);
}

function scopeValues({ caller, project_slug, idempotency_key }: IdempotencyScope): string[] {
  return [caller, project_slug, idempotency_key];
}
