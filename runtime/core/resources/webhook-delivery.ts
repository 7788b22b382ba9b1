/** What a callback URL receives, and the row that records it. Spec: Webhook delivery; Events. */
import { z } from 'zod';
import { additionalEventKinds, eventKinds } from '../events.ts';
import { webhookStatuses } from '../states.ts';
import { oneOf, pageQuery, requestQuery, times, timestamp } from './wire.ts';

/** The body of every webhook. */
export const webhookBody = z.object({
  id: z.string(),
  event: z.string(),
  created_at: timestamp,
  data: z.record(z.string(), z.unknown()),
});

/** One finished attempt, as the project's people see it. */
export const webhookAttemptRecord = z.object({
  number: z.int(),
  asked_by: z.enum(['schedule', 'person']),
  started_at: timestamp,
  duration_ms: z.int(),
  response_status: z.int().nullable(),
  response_excerpt: z.string().nullable(),
  error: z.string().nullable(),
});

/** A delivery as its project sees it. */
export const webhookDeliveryRecord = z.object({
  id: z.string(),
  event: z.string(),
  url: z.string(),
  status: z.enum(webhookStatuses),
  body: z.string(),
  attempts: z.array(webhookAttemptRecord),
  next_attempt_at: timestamp.nullable(),
  last_status: z.int().nullable(),
  last_error: z.string().nullable(),
  delivered_at: timestamp.nullable(),
  request_id: z.string().nullable(),
  ...times,
});

/** A delivery on the wire. */
export type WebhookDeliveryRecord = z.infer<typeof webhookDeliveryRecord>;

const eventNames = [...Object.keys(eventKinds), ...Object.keys(additionalEventKinds)] as const;

/** Spec: Endpoints, Webhooks. */
export const listWebhookDeliveriesQuery = requestQuery({
  event: oneOf(eventNames).optional(),
  status: oneOf(webhookStatuses).optional(),
  ...pageQuery,
});
