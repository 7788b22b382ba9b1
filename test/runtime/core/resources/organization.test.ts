import { describe, expect, it } from 'vitest';
import { createOrganizationBody } from '../../../../runtime/core/resources/organization.ts';

describe('createOrganizationBody', () => {
  it('accepts no body, but rejects a body without a name', () => {
    expect(createOrganizationBody.parse(undefined)).toBeUndefined();
    expect(createOrganizationBody.safeParse({}).success).toBe(false);
  });
});
