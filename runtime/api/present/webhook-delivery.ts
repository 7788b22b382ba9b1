/** Webhook deliveries and attempts as the API answers them. Spec: Webhook delivery; Webhook delivery attempt. */
import type { WebhookDeliveryRecord } from '../../core/resources/webhook-delivery.ts';
import type { WebhookAttemptRow } from '../../db/webhook-attempts.ts';
import type { WebhookDeliveryRow } from '../../db/webhook-deliveries.ts';

/** Includes those of the given attempts that belong to this delivery. */
export function presentWebhookDelivery(
  row: WebhookDeliveryRow,
  attempts: readonly WebhookAttemptRow[],
): WebhookDeliveryRecord {
  const { delivery_id, event, url, status, body, last_status, last_error } = row;
  return {
    id: delivery_id,
    ...{ event, url, status, body },
    attempts: attempts.filter((each) => each.delivery_id === delivery_id).map(presentAttempt),
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    last_status,
    last_error,
    delivered_at: row.delivered_at?.toISOString() ?? null,
    request_id: row.request_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function presentAttempt(row: WebhookAttemptRow): WebhookDeliveryRecord['attempts'][number] {
  const { asked_by, duration_ms, response_status, response_excerpt, error } = row;
  return {
    number: row.attempt_number,
    asked_by,
    started_at: row.started_at.toISOString(),
    ...{ duration_ms, response_status, response_excerpt, error },
  };
}
