// The encoder policy, byte for byte: output equals that of exactly these settings, and differs from similar ones.
// Changed settings would store other bytes under the same key, so any change must raise the encoder epoch.
import type { Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { pngCompressionLevel, type RenderPlan } from '../../../../runtime/core/delivery/plan.ts';
import { encode } from '../../../../runtime/worker/render/encoders.ts';
import { over, type Picture, photograph } from '../../../support/pictures.ts';
import { mustPlan } from '../../../support/planned.ts';

const small = { width: 320, height: 240 };
const large = { width: 1640, height: 1230 };
type Size = typeof small;
type Encoded = { format: RenderPlan['format']; quality: number | null; size: Size };
type Settings = (picture: Sharp) => Sharp;

const pixels = new Map<Size, Picture>();
const picture = (size: Size) => {
  const known = pixels.get(size) ?? photograph(size.width, size.height);
  pixels.set(size, known);
  return over(known);
};
const ours = ({ format, quality, size }: Encoded) =>
  encode(picture(size), { format, quality, output: size }).toBuffer();
const by = (settings: Settings, { size }: Encoded) => settings(picture(size)).toBuffer();

const policy: readonly (readonly [
  what: string,
  Encoded,
  is: Settings,
  isNot: readonly Settings[],
])[] = [
  [
    'JPEG: baseline, color halved below 90',
    { format: 'jpeg', quality: 80, size: small },
    (to) => to.jpeg({ quality: 80, chromaSubsampling: '4:2:0', progressive: false }),
    [
      (to) => to.jpeg({ quality: 80, progressive: true }),
      (to) => to.jpeg({ quality: 80, optimiseCoding: false }),
      (to) => to.jpeg({ quality: 80, mozjpeg: true }),
    ],
  ],
  [
    'JPEG from 90: all of the color',
    { format: 'jpeg', quality: 90, size: small },
    (to) => to.jpeg({ quality: 90, chromaSubsampling: '4:4:4' }),
    [(to) => to.jpeg({ quality: 90, chromaSubsampling: '4:2:0' })],
  ],
  [
    'WebP: effort 2',
    { format: 'webp', quality: 80, size: small },
    (to) => to.webp({ quality: 80, effort: 2 }),
    [1, 3, 4].map((effort) => (to: Sharp) => to.webp({ quality: 80, effort })),
  ],
  [
    'AVIF: effort 1 up to 2 megapixels',
    { format: 'avif', quality: 50, size: small },
    (to) => to.avif({ quality: 50, effort: 1, chromaSubsampling: '4:2:0' }),
    [0, 2].map(
      (effort) => (to: Sharp) => to.avif({ quality: 50, effort, chromaSubsampling: '4:2:0' }),
    ),
  ],
  [
    'AVIF: effort 0 above',
    { format: 'avif', quality: 50, size: large },
    (to) => to.avif({ quality: 50, effort: 0, chromaSubsampling: '4:2:0' }),
    [(to) => to.avif({ quality: 50, effort: 1, chromaSubsampling: '4:2:0' })],
  ],
  [
    'AVIF from 90: all of the color',
    { format: 'avif', quality: 90, size: small },
    (to) => to.avif({ quality: 90, effort: 1, chromaSubsampling: '4:4:4' }),
    [(to) => to.avif({ quality: 90, effort: 1, chromaSubsampling: '4:2:0' })],
  ],
  [
    'PNG: a compression level and nothing that loses',
    { format: 'png', quality: 39, size: small },
    (to) => to.png({ compressionLevel: 6 }),
    [(to) => to.png({ compressionLevel: 5 }), (to) => to.png({ quality: 39 })],
  ],
  [
    'GIF: effort 4, dithered',
    { format: 'gif', quality: null, size: small },
    (to) => to.gif({ effort: 4, dither: 1 }),
    [
      ...[1, 3, 5, 7].map((effort) => (to: Sharp) => to.gif({ effort })),
      (to) => to.gif({ effort: 4, dither: 0 }),
    ],
  ],
];

describe('the encoder policy', () => {
  it.each(policy)('is applied byte for byte: %s', async (_what, of, is, isNot) => {
    const bytes = await ours(of);
    expect(bytes.equals(await by(is, of))).toBe(true);
    for (const other of isNot) expect(bytes.equals(await by(other, of))).toBe(false);
  });

  it('tunes AVIF for the eye, whatever a later encoder version would choose', () => {
    const encoded = encode(picture(small), { format: 'avif', quality: 50, output: small });
    expect(encoded).toMatchObject({ options: { heifTune: 'iq' } });
  });

  it('defaults to quality 80 for JPEG and WebP, 50 for AVIF, and level 6 for PNG', () => {
    const qualities = ['jpeg', 'webp', 'avif', 'png'].map((format) => [
      format,
      mustPlan(`resize/10x/format/${format}`).quality,
    ]);
    expect(Object.fromEntries(qualities)).toEqual({ jpeg: 80, webp: 80, avif: 50, png: 39 });
    expect(pngCompressionLevel(39)).toBe(6);
  });
});
