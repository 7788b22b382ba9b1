/** A request for access by a visitor of the marketing site. Spec: Public, access requests; Staff. */
import { z } from 'zod';
import { EMAIL_LENGTH_MAX, NAME_LENGTH_MAX, NOTE_LENGTH_MAX, URL_LENGTH_MAX } from '../limits.ts';
import {
  boundedText,
  expected,
  oneOf,
  pageQuery,
  plainText,
  requestBody,
  requestQuery,
  timestamp,
} from './wire.ts';

/** Plans that a visitor may be interested in. */
const planInterests = ['starter', 'builder', 'growth', 'unsure'] as const;

/** An access request as staff see it. */
export const accessRequestRecord = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  company: z.string().nullable(),
  url: z.string().nullable(),
  message: z.string().nullable(),
  use_case: z.string().nullable(),
  plan_interest: z.enum(planInterests).nullable(),
  locale: z.string().nullable(),
  status: z.string(),
  created_at: timestamp,
});

/** An access request on the wire. */
export type AccessRequestRecord = z.infer<typeof accessRequestRecord>;

const short = boundedText(NAME_LENGTH_MAX, ', or null').nullish();

/** Addresses that mail can be sent to: 64 characters before the @, a host name after it. */
const DELIVERABLE =
  /^[^@]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/;

/** Intake; source_ip_hash is accepted and ignored, and so is a locale that is no short text. */
export const accessRequestBody = requestBody({
  email: z
    .email({ error: expected('an e-mail address') })
    .max(EMAIL_LENGTH_MAX, { error: 'expected an e-mail address' })
    .refine((text) => DELIVERABLE.test(text), { error: 'expected an e-mail address' }),
  name: short,
  company: short,
  url: boundedText(URL_LENGTH_MAX, ', or null').nullish(),
  message: boundedText(NOTE_LENGTH_MAX, ', or null').nullish(),
  use_case: boundedText(NOTE_LENGTH_MAX, ', or null').nullish(),
  plan_interest: oneOf(planInterests, ', or null').nullish(),
  locale: short.catch(undefined),
  source_ip_hash: z.unknown().optional(),
}).transform(({ source_ip_hash: _ignored, ...request }) => request);

/** Response of the intake. */
export const acceptedRecord = z.object({ accepted: z.literal(true) });

/** Query of the list for staff. */
export const listAccessRequestsQuery = requestQuery({
  status: plainText('a status').optional(),
  ...pageQuery,
});
