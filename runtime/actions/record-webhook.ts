/**
 * Writes an event down for the project's callback URL, in the transaction of its cause and with the id that the cause
 * runs under; nothing where the project has no URL at this moment. Spec: Events.
 */
import { printWebhookBody, type WebhookEvent } from '../core/events.ts';
import type { Transaction } from '../db/client.ts';
import { insertWebhookDelivery } from '../db/webhook-deliveries.ts';
import { carry } from '../platform/trail.ts';

export async function recordWebhook(tx: Transaction, webhook: WebhookEvent): Promise<void> {
  const { 'x-request-id': request_id = null, traceparent = null } = carry();
  await insertWebhookDelivery(tx, {
    delivery_id: webhook.id,
    project_id: webhook.data.project_id,
    event: webhook.event,
    body: printWebhookBody(webhook),
    request_id,
    traceparent,
  });
}
