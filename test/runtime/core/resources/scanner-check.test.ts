import { describe, expect, it } from 'vitest';
import { blockFileBody } from '../../../../runtime/core/resources/scanner-check.ts';

describe('blockFileBody', () => {
  it('requires a reason of 1 to 500 characters', () => {
    for (const reason of ['', '  ', 'a'.repeat(501), null]) {
      expect(blockFileBody.safeParse({ reason }).success).toBe(false);
    }
  });
});
