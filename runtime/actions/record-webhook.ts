/**
 * Records an event for the project's callback URL, in the transaction of its cause and with the request id and trace of
 * the cause. Records nothing if the project has no URL at this moment. Spec: Events.
 */
import { printWebhookBody, type WebhookCause } from '../core/events.ts';
import type { Transaction } from '../db/client.ts';
import { findDatabaseTime } from '../db/database-time.ts';
import { insertWebhookDeliveries } from '../db/webhook-deliveries.ts';
import { traceHeaders } from '../platform/trace-context.ts';

/**
 * Call it with the subject of the event locked: `created_at` is the database's current time, so
 * that of two events of one revision the later one has the later time, whichever processes wrote
 * them.
 */
export async function recordWebhook(tx: Transaction, webhook: WebhookCause): Promise<void> {
  await recordWebhooks(tx, [webhook]);
}

/** Records several events with one time, in one statement. */
export async function recordWebhooks(
  tx: Transaction,
  webhooks: readonly WebhookCause[],
): Promise<void> {
  const created_at = await findDatabaseTime(tx);
  const { 'x-request-id': request_id = null, traceparent = null } = traceHeaders();
  const deliveries = webhooks.map((webhook) => ({
    delivery_id: webhook.id,
    project_id: webhook.data.project_id,
    event: webhook.event,
    body: printWebhookBody({ ...webhook, created_at }),
    created_at,
    request_id,
    traceparent,
  }));
  await insertWebhookDeliveries(tx, deliveries);
}
