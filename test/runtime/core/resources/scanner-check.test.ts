import { describe, expect, it } from 'vitest';
import { blockFileBody } from '../../../../runtime/core/resources/scanner-check.ts';

describe('blockFileBody', () => {
  it('a block needs a reason', () => {
    for (const reason of ['', '  ', 'a'.repeat(501), null]) {
      expect(blockFileBody.safeParse({ reason }).success).toBe(false);
    }
  });
});
