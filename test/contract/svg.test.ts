// An SVG from its upload to what viewers get: a sanitized vector, and images rendered from its raster grid.
// Spec: Limits, Uploads (SVG); Transform operations, format; Output rules; Processing error codes.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Caller, deliver, withKey } from './support/client.ts';
import { takeTintype, type UsedTintype } from './support/shared-tintype.ts';
import { identify } from './support/tools.ts';
import { upload } from './support/upload.ts';

const content_type = 'image/svg+xml';
const shapes = '<circle cx="50" cy="25" r="20" fill="#1b4f72"/>';
const svg = (content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50">${content}</svg>`;

let tintype: UsedTintype;
let key: Caller;
let project: string;

beforeAll(async () => {
  tintype = await takeTintype();
  project = tintype.instance.project_slug;
  key = withKey(tintype, tintype.instance.api_key);
});

afterAll(() => tintype?.stop());

it('an SVG is stored as a vector without scripts, and rendered as a raster image', async () => {
  const bytes = Buffer.from(svg(`<script>alert(1)</script><g onload="alert(1)">${shapes}</g>`));
  const file_slug = 'icon.svg';
  const session = await upload(key, project, { bytes, content_type, file_slug });
  expect([session.status, session.error_code]).toEqual(['ready', null]);
  const file = await key('GET', `/v1/projects/${project}/files/${file_slug}`);
  expect(file.body).toMatchObject({ width: 2048, height: 1024, content_type });
  const path = (chain: string) => ({ project, path: `/${chain}/f/${file_slug}` });
  const original = await deliver(tintype, path('originals'));
  expect(Buffer.from(original.bytes).toString()).toBe(svg(`<g>${shapes}</g>`));
  for (const [chain, format, width, height] of [
    ['resize/100x50', 'PNG', 100, 50],
    ['crop/0,0,1024,1024/resize/64x64', 'PNG', 64, 64],
    ['resize/2048x1024/format/webp', 'WEBP', 2048, 1024],
    ['resize/320x160/format/jpeg', 'JPEG', 320, 160],
  ] as const) {
    const image = await deliver(tintype, path(chain));
    expect([chain, await identify(image.bytes)]).toEqual([chain, { format, width, height }]);
  }
});

it.each([
  ['compressed', gzipSync(svg(shapes)), 'unsupported_media_type'],
  ['with a DOCTYPE', Buffer.from(`<!DOCTYPE svg>${svg(shapes)}`), 'unsupported_media_type'],
  [
    'with a bitmap',
    Buffer.from(svg('<image href="data:image/png;base64,AA"/>')),
    'unsupported_media_type',
  ],
  ['not well-formed', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><g>'), 'decode_failed'],
  ['too complex', Buffer.from(svg('<g>'.repeat(70) + '</g>'.repeat(70))), 'image_too_large'],
])('an invalid SVG (%s) fails with its error code', async (_, bytes, code) => {
  const session = await upload(key, project, { bytes, content_type });
  expect([session.status, session.error_code]).toEqual(['failed', code]);
});
