/**
 * What infrastructure and payment providers send: only here are unknown fields ignored. Spec: Infrastructure; Billing;
 * PaymentProviderASignature.
 */
import { z } from 'zod';
import { LATEST_EPOCH_MS } from '../instant.ts';
import { INBOUND_WEBHOOK_BODY_VALUES_MAX } from '../limits.ts';
import { otherStateSets } from '../states.ts';
import { expected, plainText, requestBody } from './wire.ts';

const fields = z.record(z.string(), z.unknown(), { error: expected('an object') });
const ANY_OBJECT = { error: expected('a JSON object') };

/** Storage events, as a list or in a storage's own format: parseStorageEvents reads them. */
export const storageEventsBody = z.looseObject(
  {
    events: z
      .array(fields, { error: expected('a list of objects') })
      .meta({ maxItems: INBOUND_WEBHOOK_BODY_VALUES_MAX })
      .optional(),
  },
  ANY_OBJECT,
);

/** Response of the storage event operation. */
export const storageEventsRecord = z.object({
  received: z.int(),
  matched: z.int(),
  ignored: z.int(),
});

const LONGEST = 255;
const eventId = plainText('the id of the event')
  .min(1, { error: 'expected the id of the event' })
  .max(LONGEST, { error: `expected an id of at most ${LONGEST} characters` });
const eventType = plainText('the type of the event').max(LONGEST, {
  error: `expected a type of at most ${LONGEST} characters`,
});

/** An event of payment provider B; created_at is in milliseconds since the epoch. */
export const providerBEventBody = z.object(
  {
    id: eventId,
    eventType,
    created_at: epoch('milliseconds of the epoch', LATEST_EPOCH_MS),
    object: fields,
  },
  ANY_OBJECT,
);

/** An event of provider B. */
export type ProviderBEvent = z.infer<typeof providerBEventBody>;

/** An event of payment provider A; created is in seconds since the epoch. */
export const providerAEventBody = z.object(
  {
    id: eventId,
    type: eventType,
    created: epoch('seconds of the epoch', Math.floor(LATEST_EPOCH_MS / 1000)),
    livemode: z.boolean({ error: expected('true or false') }).optional(),
    data: z.object(
      { object: fields, previous_attributes: fields.optional() },
      { error: expected('an object with object') },
    ),
  },
  ANY_OBJECT,
);

/** An event of provider A. */
export type ProviderAEvent = z.infer<typeof providerAEventBody>;

/** What happened to a provider's event. */
export const providerEventRecord = z.object({
  status: z.enum(['processed', 'duplicate', 'ignored']),
});

/** Cancel: no body or an empty object. */
export const cancelSubscriptionBody = requestBody({}).optional();

/** Response of cancel. */
export const canceledSubscriptionRecord = z.object({
  status: z.enum(otherStateSets.subscription),
});

function epoch(what: string, max: number) {
  const error = expected(what);
  return z.int({ error }).min(0, { error }).max(max, { error });
}
