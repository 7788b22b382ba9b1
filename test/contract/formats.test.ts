// Every accepted type, from its upload to the delivered image, checked with ImageMagick. Spec: What the service does;
// Transform operations, format; Output rules.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { printBmp } from '../support/bmp.ts';
import { over, photograph } from '../support/pictures.ts';
import { type Caller, deliver, withKey } from './support/client.ts';
import { takeTintype, type UsedTintype } from './support/shared-tintype.ts';
import { identify } from './support/tools.ts';
import { upload } from './support/upload.ts';

const [width, height] = [240, 160];
const picture = over(photograph(width, height));

const types: [string, string, string, () => Promise<Buffer>][] = [
  ['image/avif', 'image/avif', 'AVIF', () => picture.clone().avif().toBuffer()],
  ['image/gif', 'image/gif', 'GIF', () => picture.clone().gif().toBuffer()],
  ['image/tiff', 'image/png', 'PNG', () => picture.clone().tiff({ compression: 'lzw' }).toBuffer()],
];

const square = { width, height, pixelAt: (x: number, y: number) => x * 256 + y };
types.push(['image/bmp', 'image/png', 'PNG', async () => printBmp(square, { bits: 24 })]);

let tintype: UsedTintype;
let key: Caller;
let project: string;

beforeAll(async () => {
  tintype = await takeTintype();
  project = tintype.instance.project_slug;
  key = withKey(tintype, tintype.instance.api_key);
});

afterAll(() => tintype?.stop());

it.each(types)(
  '%s is stored as %s, and delivered in that format or in the requested one',
  async (content_type, stored, format, make) => {
    const file_slug = content_type.replace('image/', 'a-');
    const session = await upload(key, project, { bytes: await make(), content_type, file_slug });
    expect([session.status, session.error_code]).toEqual(['ready', null]);
    const file = await key('GET', `/v1/projects/${project}/files/${file_slug}`);
    expect(file.body).toMatchObject({ width, height, content_type: stored });
    for (const [chain, as, size] of [
      ['originals', format, { width, height }],
      ['resize/90x60', format, { width: 90, height: 60 }],
      ['resize/90x60/format/jpeg', 'JPEG', { width: 90, height: 60 }],
      ['format/png', 'PNG', { width, height }],
    ] as const) {
      const image = await deliver(tintype, { project, path: `/${chain}/f/${file_slug}` });
      expect([chain, await identify(image.bytes)]).toEqual([chain, { format: as, ...size }]);
    }
  },
);

it('an animated GIF fails with animated_not_supported', async () => {
  const still = await over(photograph(40, 30)).gif().toBuffer();
  const at = still.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]));
  const bytes = Buffer.concat([still.subarray(0, -1), still.subarray(at)]);
  const session = await upload(key, project, { bytes, content_type: 'image/gif' });
  expect([session.status, session.error_code]).toEqual(['failed', 'animated_not_supported']);
});
