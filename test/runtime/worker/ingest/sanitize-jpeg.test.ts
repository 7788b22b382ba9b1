// JPEG variants of cameras, printers and scanners, written by libjpeg's own encoder. Spec: What the service does;
// Processing error codes.
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import { cjpeg } from '../../../support/cjpeg.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { type Picture, photograph, psnr } from '../../../support/pictures.ts';
import { printTiff } from '../../../support/tiff.ts';

const JPEG = 'image/jpeg';
const decoder = useDecoder();
const photo = photograph(173, 121);
const fine = ['-quality', '95', '-sample', '1x1'];
const rgb = (bytes: Buffer) => sharp(bytes).toColourspace('srgb').raw().toBuffer();

describe('a JPEG', () => {
  it.each([
    ['with equal sampling of all components', []],
    ['with color halved horizontally', ['-sample', '2x1']],
    ['with color halved vertically', ['-sample', '1x2']],
    ['with color halved in both directions', ['-sample', '2x2']],
    ['with color quartered horizontally', ['-sample', '4x1']],
    ['progressive', ['-progressive']],
    ['with restart markers', ['-restart', '1']],
    ['with untransformed colors (Adobe)', ['-rgb']],
    ['with optimized tables', ['-optimize']],
  ])('%s is stored as it looks', async (_name, words) => {
    const upload = await cjpeg(photo, [...fine, ...words]);
    const { master, width, height, is_lossless } = await decoder.ingest(upload, JPEG);
    expect([width, height, is_lossless]).toEqual([173, 121, false]);
    expect(psnr(await rgb(master), await rgb(upload))).toBeGreaterThan(36);
    expect(await sharp(master).metadata()).toMatchObject({ isProgressive: false, space: 'srgb' });
  });

  it('in grayscale stays grayscale', async () => {
    const upload = await cjpeg(photo, [...fine, '-grayscale']);
    const { master } = await decoder.ingest(upload, JPEG);
    expect(await sharp(master).metadata()).toMatchObject({ channels: 1, space: 'b-w' });
    expect(psnr(await rgb(master), await rgb(upload))).toBeGreaterThan(40);
  });

  it.each([
    [1, 1],
    [7, 9],
    [8, 8],
    [17, 1],
  ])('of %dx%d keeps its size', async (width, height) => {
    const upload = await cjpeg(photograph(width, height), ['-quality', '90']);
    expect(await decoder.ingest(upload, JPEG)).toMatchObject({ width, height });
  });

  it('in CMYK or in YCCK comes out in the same colors, not inverted', async () => {
    const plain = await printed('CMYK');
    const transformed = await printed('YCCK');
    const seen = await Promise.all([plain, transformed].map((bytes) => sharp(bytes).metadata()));
    expect(seen.map(({ space }) => space)).toEqual(['cmyk', 'cmyk']);
    const [one, other] = [
      await decoder.ingest(plain, JPEG),
      await decoder.ingest(transformed, JPEG),
    ];
    expect(psnr(await rgb(one.master), await rgb(other.master))).toBeGreaterThan(34);
    expect((await sharp(one.master).metadata()).space).toBe('srgb');
    // White, black and cyan keep their appearance, so nothing was inverted.
    const corner = await rgb(one.master);
    const [white, black, cyan] = [0, 1, 2].map((at) => corner.subarray(at * 48, at * 48 + 3));
    expect(Math.min(...(white ?? []))).toBeGreaterThan(240);
    expect(Math.max(...(black ?? []))).toBeLessThan(60);
    expect(cyan?.[0]).toBeLessThan((cyan?.[2] ?? 0) - 100);
    expect((await sharp(other.native ?? other.master).metadata()).space).toBe('cmyk');
  });

  it('with further pictures behind the first, as phones write them, is stored as the first', async () => {
    const [first, second] = [await cjpeg(photo, fine), await cjpeg(photograph(99, 88, 2), fine)];
    const both = await decoder.ingest(Buffer.concat([first, second]), JPEG);
    expect(both.master.equals((await decoder.ingest(first, JPEG)).master)).toBe(true);
  });
});

describe('an unsupported or damaged JPEG', () => {
  const marker = (bytes: Buffer, from: number, to: number) => {
    const changed = Buffer.from(bytes);
    changed[changed.indexOf(Buffer.from([0xff, from, 0])) + 1] = to;
    return changed;
  };

  it('is rejected by its header if it has 12 bits per sample', async () => {
    const upload = await cjpeg(photo, fine);
    upload[upload.indexOf(Buffer.from([0xff, 0xc0, 0])) + 4] = 12;
    expect(() => scanImage(upload, JPEG)).toThrow('JPEG: 12 bits');
    expect(await decoder.refusal(upload, JPEG)).toBe('unsupported_media_type');
    expect(await decoder.refusal(marker(upload, 0xc0, 0xc1), JPEG)).toBe('unsupported_media_type');
  });

  it('is rejected if it uses arithmetic coding', async () => {
    const upload = await cjpeg(photo, [...fine, '-arithmetic']);
    expect(await decoder.refusal(upload, JPEG)).toBe('unsupported_media_type');
  });

  it.each([0xc3, 0xc5, 0xc6, 0xc7, 0xcb, 0xcd, 0xce, 0xcf])(
    'is rejected if it has a lossless, hierarchical or other unsupported frame type: %d',
    async (frame) => {
      const upload = marker(await cjpeg(photo, fine), 0xc0, frame);
      expect(await decoder.refusal(upload, JPEG)).toBe('unsupported_media_type');
    },
  );

  it('is rejected wherever it is cut off, baseline or progressive', async () => {
    for (const words of [fine, [...fine, '-progressive']]) {
      const upload = await cjpeg(photo, words);
      for (let sixteenth = 1; sixteenth < 16; sixteenth += 1) {
        const cut = upload.subarray(0, Math.floor((upload.length * sixteenth) / 16));
        expect(await decoder.refusal(cut, JPEG), `${words} ${sixteenth}`).toBe('decode_failed');
      }
    }
  });
});

/**
 * A JPEG in printing inks with Adobe's marker: the photograph, with white, black and cyan blocks at
 * the top.
 */
async function printed(kind: 'CMYK' | 'YCCK'): Promise<Buffer> {
  const [width, height] = [96, 64];
  const inks = inksOf(photograph(width, height));
  const samples = kind === 'CMYK' ? inks : toYcck(inks);
  const tiff = printTiff([{ width, height, samples: 4, strips: [samples], tags: { 262: [5] } }]);
  const bytes = await sharp(tiff)
    .pipelineColourspace('cmyk')
    .toColourspace('cmyk')
    .jpeg({ quality: 97, chromaSubsampling: '4:4:4' })
    .toBuffer();
  const transform = bytes.indexOf('Adobe') + 11;
  expect(bytes[transform]).toBe(0);
  if (kind === 'YCCK') bytes[transform] = 2;
  return bytes;
}

function inksOf({ data, width, height }: Picture): Buffer {
  const inks = Buffer.alloc(width * height * 4);
  const blocks = [
    [0, 0, 0, 0],
    [0, 0, 0, 255],
    [255, 0, 0, 0],
  ];
  for (let at = 0; at < width * height; at += 1) {
    const color = [...data.subarray(at * 3, at * 3 + 3)].map((value) => 255 - value);
    const black = Math.min(...color);
    const isTop = at < width * 8;
    const block = isTop ? blocks[Math.floor((at % width) / 16)] : undefined;
    inks.set(block ?? [...color.map((value) => value - black), black], at * 4);
  }
  return inks;
}

/**
 * Adobe stores inverted inks. The writer inverts all samples, so the transformed ones are inverted
 * here first.
 */
function toYcck(inks: Buffer): Buffer {
  const ycck = Buffer.alloc(inks.length);
  for (let at = 0; at < inks.length; at += 4) {
    const [c = 0, m = 0, y = 0, k = 0] = inks.subarray(at, at + 4);
    const luma = 0.299 * c + 0.587 * m + 0.114 * y;
    const blue = 128 - 0.168_736 * c - 0.331_264 * m + 0.5 * y;
    const red = 128 + 0.5 * c - 0.418_688 * m - 0.081_312 * y;
    const stored = [luma, blue, red].map(
      (value) => 255 - Math.min(Math.max(Math.round(value), 0), 255),
    );
    ycck.set([...stored, k], at);
  }
  return ycck;
}
