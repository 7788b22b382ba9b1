import { describe, expect, it } from 'vitest';
import { accessRequestBody } from '../../../../runtime/core/resources/access-request.ts';

describe('accessRequestBody', () => {
  it('requires a valid e-mail address and drops fields that a proxy adds', () => {
    const request = { email: 'a@shop.example', name: null, plan_interest: null };
    expect(accessRequestBody.parse({ ...request, source_ip_hash: 'x' })).toEqual(request);
    expect(accessRequestBody.safeParse({ ...request, email: 'a' }).success).toBe(false);
  });
});
