/** An organization, and the identity behind a dashboard session. Spec: Organization; Identity and organizations. */
import { z } from 'zod';
import { nameText, requestBody, times, timestamp, trueOrFalse } from './wire.ts';

/** An organization owns projects and a credit balance. */
export const organizationRecord = z.object({
  organization_id: z.string(),
  name: z.string(),
  credit_balance: z.int(),
  quota_exceeded_at: timestamp.nullable(),
  billing_exempt: z.boolean(),
  billing_exempt_until: timestamp.nullable(),
  ...times,
});

/** An organization on the wire. */
export type OrganizationRecord = z.infer<typeof organizationRecord>;

/** The optional body of create; name is required if a body is sent. */
export const createOrganizationBody = requestBody({ name: nameText() }).optional();

/** Staff: free usage on or off. */
export const patchOrganizationBody = requestBody({ billing_exempt: trueOrFalse });

/** The person behind a session. */
export const userRecord = z.object({
  user_id: z.string(),
  subject: z.string(),
  email: z.string().nullable(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  name: z.string().nullable(),
  ...times,
});

/** Response of /v1/me. */
export const meRecord = z.object({
  user: userRecord,
  organization: organizationRecord,
  role: z.literal('owner'),
  staff: z.boolean(),
});

/** The session's user, organization, role and staff flag. */
export type MeRecord = z.infer<typeof meRecord>;
