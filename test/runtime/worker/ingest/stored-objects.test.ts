// Every kind of stored object, for each of the eight types, from images large enough for all half-way images:
// independent decoders read them without warnings, with the recorded size and without source metadata. Spec: Output
// rules.
import type { Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { printBmp } from '../../../support/bmp.ts';
import { CAMERA_TAGS, tagged } from '../../../support/camera.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { complaintsAbout, type Stored, sizesOf } from '../../../support/judges.ts';
import { over, photograph } from '../../../support/pictures.ts';

const decoder = useDecoder();
const [WIDTH, HEIGHT] = [2304, 192];
const HALF_WAY = ['2048x', '1024x', '720x'];

const plain = () => over(photograph(WIDTH, HEIGHT));
const glass = () => plain().ensureAlpha(0.5);
const inks = () => plain().toColourspace('cmyk').withIccProfile('cmyk');
const cameraOf = async (picture: Sharp, extension: string) => {
  const untagged = await picture.toBuffer();
  // Without an orientation, since the recorded sizes are compared with the samples as they are.
  const words = CAMERA_TAGS.filter((one) => !/Orientation/.test(one));
  return tagged(untagged, extension, words);
};
const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"><metadata>secret</metadata><circle cx="90" cy="90" r="80" fill="#36c"/></svg>`;

type Row = readonly [
  name: string,
  type: string,
  make: () => Promise<Buffer> | Buffer,
  objects: number,
];
const rows: readonly Row[] = [
  ['JPEG', 'image/jpeg', () => cameraOf(plain().jpeg(), 'jpg'), 4],
  ['CMYK JPEG', 'image/jpeg', () => cameraOf(inks().jpeg(), 'jpg'), 5],
  ['PNG', 'image/png', () => cameraOf(glass().png(), 'png'), 4],
  [
    'PNG in another color space',
    'image/png',
    () => plain().withIccProfile('p3').png().toBuffer(),
    5,
  ],
  ['PNG of 16 bits', 'image/png', () => plain().toColourspace('rgb16').png().toBuffer(), 4],
  ['WebP', 'image/webp', () => cameraOf(plain().webp(), 'webp'), 4],
  ['lossless WebP', 'image/webp', () => glass().webp({ lossless: true, effort: 0 }).toBuffer(), 4],
  ['AVIF', 'image/avif', () => cameraOf(plain().avif({ effort: 0 }), 'avif'), 4],
  ['AVIF of 10 bits', 'image/avif', () => glass().avif({ effort: 0, bitdepth: 10 }).toBuffer(), 4],
  ['GIF', 'image/gif', () => plain().gif({ effort: 1 }).toBuffer(), 4],
  ['TIFF', 'image/tiff', () => cameraOf(plain().tiff({ compression: 'lzw' }), 'tif'), 4],
  ['CMYK TIFF', 'image/tiff', () => inks().tiff({ compression: 'none' }).toBuffer(), 4],
  ['BMP', 'image/bmp', bmp, 4],
  ['SVG', 'image/svg+xml', () => Buffer.from(drawing), 5],
];

describe('the stored objects of an upload', () => {
  it.each(rows)(
    'are read by other decoders in the recorded size, and hold no metadata: %s',
    async (_name, type, make, objects) => {
      const result = await decoder.ingest(await make(), type);
      const { content_type, master, native, mezzanines, width, height } = result;
      const own = [master, ...(native ? [native] : [])].map((bytes) => ({ content_type, bytes }));
      const stored: Stored[] = [...own, ...mezzanines];
      expect(stored.length).toBe(objects);
      // ExifTool reports text in an SVG as metadata.
      const isText = type === 'image/svg+xml';
      expect(await complaintsAbout(isText ? mezzanines : stored)).toEqual([]);
      const sizes = [
        ...own.map(() => (isText ? `${WIDTH}x${HEIGHT}` : `${width}x${height}`)),
        ...mezzanines.map((one) => `${one.width}x${one.height}`),
      ];
      expect(await sizesOf(stored)).toEqual(sizes);
      if (isText) expect(master.toString()).not.toContain('secret');
      for (const size of HALF_WAY) {
        expect(mezzanines.some((one) => `${one.width}x`.startsWith(size))).toBe(true);
      }
    },
  );
});

function bmp(): Buffer {
  const { data } = photograph(WIDTH, HEIGHT);
  const pixelAt = (x: number, y: number) => data.readUIntBE((y * WIDTH + x) * 3, 3);
  return printBmp({ width: WIDTH, height: HEIGHT, pixelAt }, { bits: 24 });
}
