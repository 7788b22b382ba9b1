import { describe, expect, it } from 'vitest';
import {
  imageHeaders,
  isNotModified,
  notModifiedHeaders,
  preflightHeaders,
  printEtag,
  purgeTags,
  refusalHeaders,
  type ServedImage,
} from '../../../../runtime/core/delivery/headers.ts';

const derived = {
  kind: 'derived',
  content_type: 'image/webp',
  revision: 7,
  project_id: 'prj_1',
  file_id: 'file_1',
  etag: '"abc"',
  access: 'public',
} as const satisfies ServedImage;
const signed = { ...derived, access: { seconds_left: 119.9 } } as const satisfies ServedImage;
const svg: ServedImage = { ...derived, kind: 'originals', content_type: 'image/svg+xml' };
const raw: ServedImage = {
  kind: 'raw',
  content_type: 'image/jpeg',
  revision: 7,
  project_id: 'prj_1',
  file_id: 'file_1',
  file_slug: 'photo',
  original_filename: null,
};

describe('imageHeaders', () => {
  it('let browsers cache a public image for five minutes and the CDN for a year', () => {
    expect(imageHeaders(derived)).toEqual({
      'accept-ranges': 'bytes',
      'access-control-allow-origin': '*',
      'access-control-expose-headers':
        'accept-ranges, content-disposition, content-length, content-range, etag, retry-after, x-request-id, x-service-revision',
      'cross-origin-resource-policy': 'cross-origin',
      'referrer-policy': 'no-referrer',
      'timing-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=300, s-maxage=31536000',
      'content-type': 'image/webp',
      etag: '"abc"',
      'x-service-revision': '7',
      'cache-tag': 'prj_1,file_1',
      'surrogate-key': 'prj_1 file_1',
    });
  });

  it('let the CDN cache a signed URL until it expires, and make browsers revalidate', () => {
    expect(imageHeaders(signed)['cache-control']).toBe(
      'public, max-age=0, must-revalidate, s-maxage=119',
    );
  });

  it('limit max-age and s-maxage to the seconds that the image may be kept', () => {
    const control = (image: ServedImage) => imageHeaders(image)['cache-control'];
    expect(control({ ...derived, kept_seconds_max: 1000.5 })).toBe(
      'public, max-age=300, s-maxage=1000',
    );
    expect(control({ ...derived, kept_seconds_max: 0 })).toBe('public, max-age=0, s-maxage=0');
    const short = 'public, max-age=0, must-revalidate, s-maxage=60';
    expect(control({ ...signed, kept_seconds_max: 60 })).toBe(short);
    const long = 'public, max-age=0, must-revalidate, s-maxage=119';
    expect(control({ ...signed, kept_seconds_max: 200 })).toBe(long);
  });

  it('never state a negative age for a signed URL that has expired', () => {
    const late: ServedImage = { ...derived, access: { seconds_left: -3 } };
    expect(imageHeaders(late)['cache-control']).toMatch(/s-maxage=0$/);
  });

  it('send a Content-Security-Policy for an SVG that allows only its own styles', () => {
    expect(imageHeaders(svg)).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    });
    expect(imageHeaders(derived)).not.toHaveProperty('content-security-policy');
  });

  it('send a raw download as an attachment that is neither stored nor revalidated', () => {
    const headers = imageHeaders(raw);
    expect(headers).toMatchObject({
      'cache-control': 'private, no-store',
      'content-disposition': 'attachment; filename="photo.jpg"',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-service-revision': '7',
    });
    for (const name of ['etag', 'cache-tag', 'surrogate-key']) {
      expect(headers).not.toHaveProperty(name);
    }
  });

  it('never send Vary', () => {
    for (const image of [derived, signed, svg, raw]) {
      expect(imageHeaders(image)).not.toHaveProperty('vary');
    }
  });
});

describe('other response headers', () => {
  it('a 304 carries the headers of the 200 except those about the body', () => {
    const { 'content-type': _, 'accept-ranges': __, ...rest } = imageHeaders(derived);
    expect(notModifiedHeaders(derived)).toEqual(rest);
    expect(notModifiedHeaders(svg)).not.toHaveProperty('content-security-policy');
  });

  it('a refusal is JSON for every origin and is not stored', () => {
    expect(refusalHeaders()).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(refusalHeaders()).not.toHaveProperty('retry-after');
    expect(refusalHeaders()).not.toHaveProperty('link');
    expect(refusalHeaders({ retry_after_seconds: 2 })['retry-after']).toBe('2');
  });

  it('a preflight response allows any origin to GET and HEAD', () => {
    expect(preflightHeaders()).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': '*',
    });
  });

  it('purge tags name the project and the file', () => {
    expect(purgeTags({ project_id: 'prj_1', file_id: 'file_1' })).toEqual({
      'cache-tag': 'prj_1,file_1',
      'surrogate-key': 'prj_1 file_1',
    });
  });
});

describe('entity tags', () => {
  const representation = {
    file_id: 'file_1',
    object_key: 'masters/prj_1/upl_1/1-a.png',
    representation: 'originals',
    encoder_epoch: 1,
  };

  it('are strong, equal for the same representation and different for any other', () => {
    const tags = [
      representation,
      { ...representation, file_id: 'file_2' },
      { ...representation, object_key: 'masters/prj_1/upl_2/1-a.png' },
      { ...representation, representation: '[[0,0,1,1]]' },
      { ...representation, encoder_epoch: 2 },
    ].map(printEtag);
    expect(tags[0]).toMatch(/^"[A-Za-z0-9_-]{32}"$/);
    expect(printEtag(representation)).toBe(tags[0]);
    expect(new Set(tags).size).toBe(tags.length);
  });

  const matches: [string | undefined, boolean, string][] = [
    ['"abc"', true, 'the tag'],
    ['W/"abc"', true, 'compared weakly'],
    ['"x", "abc"', true, 'one of a list'],
    ['W/"x" , W/"abc","y"', true, 'one of a list'],
    ['*', true, 'any'],
    [' * ', true, 'any'],
    ['"x"', false, 'another tag'],
    ['"ABC"', false, 'another case'],
    ['abc', false, 'no quotes'],
    ['"abc', false, 'half a tag'],
    ['"x,"abc', false, 'half a tag'],
    ['', false, 'nothing'],
    [undefined, false, 'no header'],
  ];

  it.each(matches)('If-None-Match %s matches: %s (%s)', (header, isSame) => {
    expect(isNotModified(header, '"abc"')).toBe(isSame);
  });
});
