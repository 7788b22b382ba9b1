/** Reads an event's object as its type promises it; what does not fit is the sender's mistake. Spec: Infrastructure. */
import { z } from 'zod';
import { wrongInput } from '../input-issue.ts';
import { isStorable } from '../text.ts';

/** Of a customer, a subscription, a payment: as it is kept. */
export const providerId = z.string().min(1).max(255).refine(isStorable);

/** An object that was expanded, or its id alone. */
export const providerReference = z.union([
  providerId,
  z.looseObject({ id: providerId }).transform(({ id }) => id),
]);

/** What we gave along when somebody went to pay. */
export const providerMetadata = z
  .looseObject({ organization_id: z.string().refine(isStorable).optional() })
  .nullish();

/** Throws `invalid_request` with each place in the object. */
export function parseInbound<Found>(schema: z.ZodType<Found>, object: unknown): Found {
  const result = schema.safeParse(object);
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path }) => ({
    path: ['object', ...path].join('.'),
    message: 'expected what the type of the event says of it',
  }));
  throw wrongInput(...issues);
}
