/** Responses of the infrastructure endpoints, which belong to no resource. Spec: Infrastructure. */
import { z } from 'zod';

export const healthRecord = z.object({ status: z.literal('ok') });

export const readinessRecord = z.object({
  ready: z.boolean(),
  checks: z.object({ database: z.boolean(), ingest: z.boolean(), content: z.boolean() }),
});

export const countedEventsRecord = z.object({
  received: z.int(),
  matched: z.int(),
  ignored: z.int(),
});
