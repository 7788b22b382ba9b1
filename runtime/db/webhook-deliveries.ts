// Table webhook_deliveries: events for a project's callback URL, written in the transaction of the event. Spec: Events.
import { additionalWebhookMoves, statesBefore } from '../core/states.ts';
import type { Transaction } from './client.ts';

export type NewWebhookDelivery = {
  /** Stable over retries; a second row of the same id is the same event. */
  delivery_id: string;
  project_id: string;
  event: string;
  /** The bytes that every attempt sends. */
  body: string;
};

/** Writes the row if the project has a callback URL at this moment; false otherwise, or when it is there already. */
export async function insertWebhookDelivery(
  tx: Transaction,
  { delivery_id, project_id, event, body }: NewWebhookDelivery,
): Promise<boolean> {
  const rows = await tx.query(
    `insert into webhook_deliveries (delivery_id, project_id, event, body, url)
     select $1, project_id, $3, $4, callback_url from projects
     where project_id = $2 and callback_url is not null
     on conflict (delivery_id) do nothing returning delivery_id`,
    [delivery_id, project_id, event, body],
  );
  return rows.length > 0;
}

/** What waits follows a changed callback URL; without one it is canceled. */
export async function updateWebhookUrl(
  tx: Transaction,
  { project_id, url }: { project_id: string; url: string | null },
): Promise<void> {
  const open = statesBefore(additionalWebhookMoves, 'cancel');
  if (url !== null) {
    await tx.query(
      'update webhook_deliveries set url = $2, updated_at = now() where project_id = $1 and status = any($3)',
      [project_id, url, open],
    );
    return;
  }
  await tx.query(
    `update webhook_deliveries set status = 'canceled', next_attempt_at = null, updated_at = now()
     where project_id = $1 and status = any($2)`,
    [project_id, open],
  );
}

/** How many there are of this id, with and without a number: which occurrence the next one is. */
export async function countWebhookDeliveries(
  tx: Transaction,
  firstDeliveryId: string,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `select count(*) from webhook_deliveries where delivery_id = $1 or starts_with(delivery_id, $1 || ':')`,
    [firstDeliveryId],
  );
  return row?.count ?? 0;
}
