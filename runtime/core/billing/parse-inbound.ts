/** Reads an event's object as its type promises it; what does not fit is the sender's mistake. Spec: Infrastructure. */
import { z } from 'zod';
import { wrongInput } from '../input-issue.ts';
import { isStorable } from '../text.ts';
import type { CustomerFact } from './billing-fact.ts';

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

const checkout = z.looseObject({
  customer: providerReference.nullish(),
  metadata: providerMetadata,
});

/** A checkout that is done says whose customer pays; undefined where we did not begin it, or there is none. */
export function customerOfCheckout(object: unknown): CustomerFact | undefined {
  const { customer: customer_id, metadata } = parseInbound(checkout, object);
  const organization_id = metadata?.organization_id;
  if (customer_id == null || organization_id === undefined) return undefined;
  return { kind: 'customer', customer_id, organization_id };
}
