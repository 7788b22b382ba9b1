// Damaged files through the real decoder: each is accepted or rejected with a documented code, and the decoder
// survives. Spec: Processing error codes.
import { expect, it } from 'vitest';
import { gridAvif } from '../../../support/avif.ts';
import { printBmp, runLengths, wrapBmp } from '../../../support/bmp.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { bitFlips, truncations } from '../../../support/hostile.ts';
import { cutOut, drawing, over, photograph } from '../../../support/pictures.ts';

const FLIPS = 32;
const CODES = [
  undefined,
  'unsupported_media_type',
  'animated_not_supported',
  'image_too_large',
  'decode_failed',
];

const decoder = useDecoder();

const grid = { width: 33, height: 20, pixelAt: (x: number, y: number) => (x * y) % 100 };
const masks = [0xff0000, 0xff00, 0xff, 0xff000000] as const;
const palette = Array.from({ length: 256 }, (_, index) => [index, index, 255 - index] as const);

const sources: [string, string, () => Promise<Buffer>][] = [
  ['an AVIF', 'image/avif', () => over(photograph(48, 40)).avif().toBuffer()],
  ['an AVIF with transparency', 'image/avif', () => over(cutOut(40, 40)).avif().toBuffer()],
  ['an AVIF of tiles', 'image/avif', () => gridAvif(photograph(128, 128), { columns: 2, rows: 2 })],
  ['a BMP', 'image/bmp', async () => printBmp(grid, { bits: 24 })],
  ['a BMP with masks', 'image/bmp', async () => printBmp(grid, { header: 108, bits: 32, masks })],
  ['a BMP with a palette', 'image/bmp', async () => printBmp(grid, { bits: 8, palette })],
  [
    'a BMP of run lengths',
    'image/bmp',
    async () =>
      wrapBmp(grid, { bits: 8, palette }, { rows: runLengths(grid, { bits: 8 }), compression: 1 }),
  ],
  ['a GIF', 'image/gif', () => over(drawing(48, 40)).gif().toBuffer()],
  ['a GIF with transparency', 'image/gif', () => over(cutOut(40, 40)).gif().toBuffer()],
  [
    'a TIFF of strips',
    'image/tiff',
    () => over(photograph(48, 40)).tiff({ compression: 'lzw' }).toBuffer(),
  ],
  [
    'a TIFF of tiles',
    'image/tiff',
    () =>
      over(photograph(70, 50))
        .tiff({ compression: 'deflate', tile: true, tileWidth: 32, tileHeight: 32, bigtiff: true })
        .toBuffer(),
  ],
  [
    'a TIFF with a JPEG in it',
    'image/tiff',
    () => over(photograph(48, 40)).tiff({ compression: 'jpeg' }).toBuffer(),
  ],
  [
    'a packed TIFF',
    'image/tiff',
    () => over(drawing(48, 40)).tiff({ compression: 'packbits' }).toBuffer(),
  ],
];

it.each(sources)(
  '%s is rejected with a documented code wherever it is cut off',
  async (_, type, make) => {
    for (const [part, file] of [...truncations(await make())].entries()) {
      const refusal = await decoder.refusal(file, type);
      expect(CODES.slice(1), `${part}/16: ${refusal}`).toContain(refusal);
    }
  },
);

it.each(sources)(
  '%s with flipped bits is accepted or rejected with a documented code',
  async (name, type, make) => {
    const file = await make();
    for (const [index, damaged] of [
      ...bitFlips(file, { count: FLIPS, seed: name.length, header: 400 }),
    ].entries()) {
      const refusal = await decoder.refusal(damaged, type);
      expect(CODES, `file ${index}: ${refusal}`).toContain(refusal);
    }
    expect(await decoder.refusal(file, type)).toBeUndefined();
  },
);
