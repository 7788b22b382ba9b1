/** What a callback URL receives, and the row that remembers it. Spec: Webhook delivery; Events. */
import { z } from 'zod';
import { webhookStatuses } from '../states.ts';
import { times, timestamp } from './wire.ts';

/** The body of every webhook. */
export const webhookBody = z.object({
  id: z.string(),
  event: z.string(),
  created_at: timestamp,
  data: z.record(z.string(), z.unknown()),
});

/** A webhook's body on the wire. */
export type WebhookBody = z.infer<typeof webhookBody>;

/** A delivery as its project sees it. */
export const webhookDeliveryRecord = z.object({
  id: z.string(),
  event: z.string(),
  url: z.string(),
  status: z.enum(webhookStatuses),
  attempts: z.int(),
  next_attempt_at: timestamp.nullable(),
  last_status: z.int().nullable(),
  last_error: z.string().nullable(),
  delivered_at: timestamp.nullable(),
  ...times,
});

/** A delivery on the wire. */
export type WebhookDeliveryRecord = z.infer<typeof webhookDeliveryRecord>;
