import { describe, expect, it } from 'vitest';
import { signedUrlBody } from '../../../../runtime/core/resources/signing-key.ts';

const chain = 'resize/640x480';
const mint = (rest: object) => signedUrlBody.safeParse({ file_slug: 'A.jpg', ...rest });

describe('signedUrlBody', () => {
  it.each([
    [{}, { kind: 'originals', transform_chain: null }],
    [{ transform_chain: null }, { kind: 'originals', transform_chain: null }],
    [{ transform_chain: chain }, { kind: 'derived', transform_chain: chain }],
    [
      { transform_chain: chain, kind: 'derived' },
      { kind: 'derived', transform_chain: chain },
    ],
    [{ kind: 'originals' }, { kind: 'originals', transform_chain: null }],
    [{ kind: 'raw' }, { kind: 'raw', transform_chain: null }],
    [{ transform_chain: 'originals' }, { kind: 'originals', transform_chain: null }],
    [{ transform_chain: 'download/raw' }, { kind: 'raw', transform_chain: null }],
    [
      { transform_chain: 'download/raw', kind: 'raw' },
      { kind: 'raw', transform_chain: null },
    ],
  ] as const)('reads %j as %j', (body, target) => {
    expect(mint(body).data).toEqual({ file_slug: 'a.jpg', ...target, expires_in_seconds: 300 });
  });

  it.each([
    { kind: 'derived' },
    { kind: 'raw', transform_chain: chain },
    { kind: 'originals', transform_chain: chain },
    { kind: 'raw', transform_chain: 'originals' },
    { kind: 'derived', transform_chain: 'originals' },
    { transform_chain: 'resize/9000x1' },
    { transform_chain: '' },
    { transform_chain: 'toString' },
    { kind: 'other' },
  ])('rejects %j', (body) => expect(mint(body).success).toBe(false));

  it('accepts expires_in_seconds from 60 to 3600, with a default of 300', () => {
    expect(mint({ expires_in_seconds: null }).data?.expires_in_seconds).toBe(300);
    for (const seconds of [60, 3600])
      expect(mint({ expires_in_seconds: seconds }).success).toBe(true);
    for (const seconds of [59, 3601, 60.5, '60']) {
      expect(mint({ expires_in_seconds: seconds }).success).toBe(false);
    }
  });
});
