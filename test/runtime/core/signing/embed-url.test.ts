import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signEmbedUrl, verifyEmbedUrl } from '../../../../runtime/core/signing/embed-url.ts';
import { mutationsOf } from '../../../support/mutations.ts';

const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
const exp = 1_800_000_000;
const query = {
  o: 'https://shop.example',
  exp: String(exp),
  kid: 't1',
  s: 'nE_J9u_55U-QFt8Qe5T2QqE4zZPmW_idxPNezufWA5w',
};
const page = {
  keys: [{ id: 't1', key }],
  project: 'shop',
  library: 'default',
  query,
  now_seconds: exp - 1,
};

describe('the signature of an embed URL', () => {
  it("covers 'embed1|<project>|<library>|<o>|<exp>'", () => {
    const s = signEmbedUrl({ key, project: 'shop', library: 'default', o: query.o, exp });
    expect(s).toBe(query.s);
    expect(verifyEmbedUrl(page)).toBe('valid');
  });
  it('expires at exp', () => {
    expect(verifyEmbedUrl({ ...page, now_seconds: exp })).toBe('embed_url_expired');
  });
  it('is invalid under an unknown kid, whatever its age', () => {
    const unknown = { ...page, query: { ...query, kid: 't2' } };
    expect(verifyEmbedUrl(unknown)).toBe('invalid_embed_url');
    expect(verifyEmbedUrl({ ...unknown, now_seconds: exp + 1 })).toBe('invalid_embed_url');
  });
  it('is not valid for any mutation of the path or the query', () => {
    const altered = fc.oneof(
      mutationsOf(page.project).map((project) => ({ project })),
      mutationsOf(page.library).map((library) => ({ library })),
      ...(['o', 'exp', 'kid', 's'] as const).map((name) =>
        mutationsOf(query[name]).map((text) => ({ query: { ...query, [name]: text } })),
      ),
    );
    fc.assert(
      fc.property(altered, (change) => {
        expect(verifyEmbedUrl({ ...page, ...change })).toBe('invalid_embed_url');
      }),
    );
  });
  it('is invalid if a part of the origin moves into the library', () => {
    const moved = { ...page, library: 'default|https://shop.example', query: { ...query, o: '' } };
    expect(verifyEmbedUrl(moved)).toBe('invalid_embed_url');
  });
});
