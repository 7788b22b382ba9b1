/** Parses an event's object by the schema of its type; a mismatch is the sender's fault. Spec: Infrastructure. */
import { z } from 'zod';
import { wrongInput } from '../input-issue.ts';
import { isStorable } from '../text.ts';
import type { CustomerFact } from './billing-fact.ts';

/** The id of a customer, a subscription or a payment, as stored. */
export const providerId = z.string().min(1).max(255).refine(isStorable);

/** An expanded object, or only its id. */
export const providerReference = z.union([
  providerId,
  z.looseObject({ id: providerId }).transform(({ id }) => id),
]);

/** The metadata that we attached to the checkout. */
export const providerMetadata = z
  .looseObject({ organization_id: z.string().refine(isStorable).optional() })
  .nullish();

/** Throws `invalid_request` that lists every wrong place in the object. */
export function parseInbound<Found>(schema: z.ZodType<Found>, object: unknown): Found {
  const result = schema.safeParse(object);
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path }) => ({
    path: ['object', ...path].join('.'),
    message: 'expected what an event of this type has here',
  }));
  throw wrongInput(...issues);
}

const checkout = z.looseObject({
  customer: providerReference.nullish(),
  metadata: providerMetadata,
});

/**
 * The customer and organization of a completed checkout; undefined when we did not begin it, or it
 * has no customer.
 */
export function customerOfCheckout(object: unknown): CustomerFact | undefined {
  const { customer: customer_id, metadata } = parseInbound(checkout, object);
  const organization_id = metadata?.organization_id;
  if (customer_id == null || organization_id === undefined) return undefined;
  return { kind: 'customer', customer_id, organization_id };
}
