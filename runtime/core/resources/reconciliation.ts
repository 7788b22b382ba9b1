/** Whether the stages of metering agree, as staff read it. Spec: Staff (reconciliation). */
import { z } from 'zod';
import { differenceCauses } from '../reconciliation.ts';
import { plainText, requestQuery } from './wire.ts';

const causes = Object.keys(differenceCauses) as (keyof typeof differenceCauses)[];

/**
 * One UTC day of a project, or of all. Credits are before the multiplier, except owed and charged
 * ones.
 */
export const reconciledDayRecord = z.object({
  day: z.iso.date(),
  requests: z.int(),
  batched_credits: z.int(),
  rolled_up_credits: z.int(),
  exempt_credits: z.int(),
  owed_credits: z.int(),
  charged_credits: z.int(),
  missing_batches: z.int(),
  lost_deliveries: z.int(),
  differences: z.array(z.object({ cause: z.enum(causes), credits: z.int(), advice: z.string() })),
});

/** A day on the wire. */
export type ReconciledDayRecord = z.infer<typeof reconciledDayRecord>;

/** Query of the report. */
export const reconciliationQuery = requestQuery({
  project_slug: plainText('a project slug').optional(),
});
