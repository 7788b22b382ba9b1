/**
 * The SigningKey resource: when the key that signs delivery URLs changes. Spec: Signing key. A project has its first
 * key without it; one SigningKey takes over the keys of a project.
 */
import { z } from 'zod';
import { group, integer, projectRef, rotationTrigger } from '../fields.ts';
import { allocated, statusFields, statusTime } from '../status-fields.ts';

export const signingKeySpec = group('the fields of a SigningKey', {
  projectRef,
  rotationTrigger: rotationTrigger
    .describe('Change this text to rotate the key; the previous key still verifies for 24 hours.')
    .optional(),
  rotationDays: integer('a whole number of days, 1 to 3650', { min: 1, max: 3650 })
    .describe('Rotate the key when it is this many days old.')
    .optional(),
});

export type SigningKeySpec = z.infer<typeof signingKeySpec>;

export const signingKeyStatus = z.object({
  ...statusFields,
  kid: allocated('The current key.'),
  previousKid: allocated('The previous key.'),
  previousRetireTime: statusTime.describe('When the previous key stops verifying.').optional(),
});
