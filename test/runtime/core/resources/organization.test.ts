import { describe, expect, it } from 'vitest';
import { createOrganizationBody } from '../../../../runtime/core/resources/organization.ts';

describe('createOrganizationBody', () => {
  it('an organization may be created without a body, never without a name in one', () => {
    expect(createOrganizationBody.parse(undefined)).toBeUndefined();
    expect(createOrganizationBody.safeParse({}).success).toBe(false);
  });
});
