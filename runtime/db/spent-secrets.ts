// Empties secrets in the tables signing_keys, projects and older_callback_secrets that no longer verify or sign
// anything; rows that hold other information stay. Spec: Signing key; Events, Signature rules.
import type { Queryable } from './client.ts';

/** For keys that stopped verifying longer ago than that; returns how many. */
export async function deleteSpentKeySecrets(db: Queryable, ageSeconds: number): Promise<number> {
  const rows = await db.query(
    `update signing_keys set secret_sealed = '', updated_at = now()
     where status = 'retired' and secret_sealed <> '' and retire_after < now() - make_interval(secs => $1)
     returning kid`,
    [ageSeconds],
  );
  return rows.length;
}

/**
 * For rotated callback secrets that stopped signing along longer ago than that; returns how many.
 */
export async function deleteSpentCallbackSecrets(
  db: Queryable,
  ageSeconds: number,
): Promise<number> {
  const rows = await db.query(
    `with older as (
       delete from older_callback_secrets where signs_until < now() - make_interval(secs => $1) returning project_id
     ), previous as (
       update projects set previous_callback_secret_sealed = null, previous_callback_secret_until = null
       where project_id in (
         select project_id from projects where previous_callback_secret_until < now() - make_interval(secs => $1)
         order by project_id for no key update
       ) returning project_id
     )
     select from older union all select from previous`,
    [ageSeconds],
  );
  return rows.length;
}
