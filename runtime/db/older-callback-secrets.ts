// Table older_callback_secrets: when a secret is rotated several times within a day, the older ones that still sign
// along, and that the project's row has no column for. Spec: Events, Signature rules.
import { CALLBACK_SECRETS_SIGNING_MAX } from '../core/limits.ts';
import type { Transaction } from './client.ts';

/** The project's current and previous secret. */
const KEPT_ELSEWHERE = 2;

/**
 * Keeps the previous secret of the project's row for the rest of its day; deletes the oldest ones
 * beyond the limit.
 */
export async function keepPreviousCallbackSecret(
  tx: Transaction,
  project_id: string,
): Promise<void> {
  await tx.query(
    `insert into older_callback_secrets (project_id, signs_until, secret_sealed)
     select project_id, previous_callback_secret_until, previous_callback_secret_sealed from projects
     where project_id = $1 and previous_callback_secret_until > now()
     on conflict do nothing`,
    [project_id],
  );
  await tx.query(
    `delete from older_callback_secrets o using (
       select signs_until, secret_sealed from older_callback_secrets where project_id = $1
       order by signs_until desc offset $2
     ) beyond
     where o.project_id = $1 and (o.signs_until, o.secret_sealed) = (beyond.signs_until, beyond.secret_sealed)`,
    [project_id, CALLBACK_SECRETS_SIGNING_MAX - KEPT_ELSEWHERE],
  );
}

export async function deleteOlderCallbackSecrets(
  tx: Transaction,
  project_id: string,
): Promise<void> {
  await tx.query('delete from older_callback_secrets where project_id = $1', [project_id]);
}
