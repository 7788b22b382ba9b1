// Spec: Limits, Uploads, image pixel limits. For every format and depth, a file with exactly the maximum number of
// pixels passes the header scan, and one more row is rejected. The files claim their size and hold almost no pixels.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { IngestRefusal } from '../../../../runtime/worker/ingest/ingest-refusal.ts';
import { scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import { isTooLong } from '../../../../runtime/worker/ingest/stored-size.ts';
import { printBmp, wrapBmp } from '../../../support/bmp.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { cutOut, deepPng, drawing, over, photograph } from '../../../support/pictures.ts';
import { printTiff } from '../../../support/tiff.ts';

type Size = { width: number; height: number };
/** Makes a small file that claims this size. */
type Lie = (size: Size) => Buffer;

const MP = 1_000_000;
const decoder = useDecoder();
const lies = new Map<string, Lie>();

function png(bytes: Buffer): Lie {
  return ({ width, height }) => {
    const lie = Buffer.from(bytes);
    lie.writeUInt32BE(width, 16);
    lie.writeUInt32BE(height, 20);
    return lie;
  };
}

function jpeg(bytes: Buffer, marker: number): Lie {
  return ({ width, height }) => {
    const lie = Buffer.from(bytes);
    const at = lie.indexOf(Buffer.from([0xff, marker, 0]));
    lie.writeUInt16BE(height, at + 5);
    lie.writeUInt16BE(width, at + 7);
    return lie;
  };
}

function gif(bytes: Buffer): Lie {
  return ({ width, height }) => {
    const lie = Buffer.from(bytes);
    lie.writeUInt16LE(width, 6);
    lie.writeUInt16LE(height, 8);
    return lie;
  };
}

function webp(bytes: Buffer): Lie {
  return ({ width, height }) => {
    const lie = Buffer.from(bytes);
    const [extended, lossy, lossless] = ['VP8X', 'VP8 ', 'VP8L'].map((name) => lie.indexOf(name));
    if (extended !== undefined && extended >= 0) {
      lie.writeUIntLE(width - 1, extended + 12, 3);
      lie.writeUIntLE(height - 1, extended + 15, 3);
    } else if (lossy !== undefined && lossy >= 0) {
      lie.writeUInt16LE(width, lossy + 14);
      lie.writeUInt16LE(height, lossy + 16);
    } else if (lossless !== undefined) {
      const alpha = lie.readUInt32LE(lossless + 9) & 0x10000000;
      const bits = (((height - 1) << 14) | (width - 1) | alpha) >>> 0;
      lie.writeUInt32LE(bits, lossless + 9);
    }
    return lie;
  };
}

function avif(bytes: Buffer): Lie {
  return ({ width, height }) => {
    const lie = Buffer.from(bytes);
    for (let at = lie.indexOf('ispe'); at >= 0; at = lie.indexOf('ispe', at + 1)) {
      lie.writeUInt32BE(width, at + 8);
      lie.writeUInt32BE(height, at + 12);
    }
    return lie;
  };
}

const tiff =
  (bits: number, tags: Record<number, number[]> = {}): Lie =>
  (size) => {
    const strips = [Buffer.alloc(16)];
    return printTiff([{ ...size, samples: 3, strips, tags: { 258: [bits, bits, bits], ...tags } }]);
  };

const bmpRuns: Lie = (size) => {
  const options = { bits: 8, palette: [[1, 2, 3]] } as const;
  return wrapBmp(size, options, { rows: Buffer.from([0, 1]), compression: 1 });
};

beforeAll(async () => {
  const [photo, round, flat] = [photograph(32, 24), cutOut(32, 24), drawing(32, 24)];
  const deepAvif = (bitdepth: 10 | 12) => over(photo).avif({ bitdepth, effort: 0 }).toBuffer();
  lies.set('image/jpeg baseline', jpeg(await over(photo).jpeg().toBuffer(), 0xc0));
  lies.set(
    'image/jpeg progressive',
    jpeg(await over(photo).jpeg({ progressive: true }).toBuffer(), 0xc2),
  );
  lies.set('image/png 8 bit', png(await over(photo).png().toBuffer()));
  lies.set('image/png transparent', png(await over(round).png().toBuffer()));
  lies.set('image/png palette', png(await over(flat).png({ palette: true }).toBuffer()));
  lies.set('image/png 16 bit', png(await deepPng(32, 24)));
  lies.set('image/gif', gif(await over(flat).gif().toBuffer()));
  lies.set('image/tiff 8 bit', tiff(8));
  lies.set('image/tiff 16 bit', tiff(16));
  lies.set('image/bmp', bmpRuns);
  lies.set('image/webp lossy', webp(await over(photo).webp().toBuffer()));
  lies.set('image/webp lossy transparent', webp(await over(round).webp().toBuffer()));
  lies.set('image/webp lossless', webp(await over(photo).webp({ lossless: true }).toBuffer()));
  lies.set(
    'image/webp lossless transparent',
    webp(await over(round).webp({ lossless: true }).toBuffer()),
  );
  lies.set('image/avif 8 bit', avif(await over(photo).avif({ effort: 0 }).toBuffer()));
  lies.set('image/avif transparent', avif(await over(round).avif({ effort: 0 }).toBuffer()));
  lies.set('image/avif 10 bit', avif(await deepAvif(10)));
  lies.set('image/avif 12 bit', avif(await deepAvif(12)));
});

/** The maximum in megapixels, and a size with exactly that many pixels. */
const rows = [
  ['image/jpeg baseline', 128, { width: 16_000, height: 8000 }],
  ['image/jpeg progressive', 128, { width: 16_000, height: 8000 }],
  ['image/png 8 bit', 128, { width: 16_000, height: 8000 }],
  ['image/png transparent', 128, { width: 16_000, height: 8000 }],
  ['image/png palette', 128, { width: 16_000, height: 8000 }],
  ['image/png 16 bit', 50, { width: 10_000, height: 5000 }],
  ['image/gif', 50, { width: 10_000, height: 5000 }],
  ['image/tiff 8 bit', 50, { width: 10_000, height: 5000 }],
  ['image/tiff 16 bit', 50, { width: 10_000, height: 5000 }],
  ['image/bmp', 50, { width: 10_000, height: 5000 }],
  ['image/webp lossy', 50, { width: 10_000, height: 5000 }],
  ['image/webp lossy transparent', 38, { width: 9500, height: 4000 }],
  ['image/webp lossless', 49, { width: 7000, height: 7000 }],
  ['image/webp lossless transparent', 32, { width: 8000, height: 4000 }],
  ['image/avif 8 bit', 28, { width: 7000, height: 4000 }],
  ['image/avif transparent', 28, { width: 7000, height: 4000 }],
  ['image/avif 10 bit', 28, { width: 7000, height: 4000 }],
  ['image/avif 12 bit', 28, { width: 7000, height: 4000 }],
] as const;

function lie(name: string, size: Size) {
  const bytes = lies.get(name)?.(size) ?? expect.fail(name);
  return { bytes, content_type: name.split(' ')[0] ?? name };
}

/** The error code of the header scan, if any. */
function refusalByScan(name: string, size: Size): string | undefined {
  const { bytes, content_type } = lie(name, size);
  try {
    expect(scanImage(bytes, content_type)).toMatchObject(size);
    return undefined;
  } catch (error) {
    if (error instanceof IngestRefusal) return error.code;
    throw error;
  }
}

describe.each(rows)('%s of %d megapixels', (name, megapixels, size) => {
  it('is accepted by the header scan; one more row is rejected with image_too_large', async () => {
    expect(size.width * size.height).toBe(megapixels * MP);
    expect(refusalByScan(name, size)).toBeUndefined();
    const larger = { ...size, height: size.height + 1 };
    expect(refusalByScan(name, larger)).toBe('image_too_large');
    const { bytes, content_type } = lie(name, larger);
    expect(await decoder.refusal(bytes, content_type)).toBe('image_too_large');
  });

  it('is the limit for width times height, whatever the aspect ratio', () => {
    const side = fc.integer({ min: 32, max: 16_383 });
    fc.assert(
      fc.property(side, side, (width, height) => {
        const isIn = width * height <= megapixels * MP;
        expect(refusalByScan(name, { width, height })).toBe(isIn ? undefined : 'image_too_large');
      }),
      { numRuns: 60 },
    );
  });
});

it.each([24, 32] as const)('a BMP of %d bits above the limit is rejected by its header', (bits) => {
  const bytes = printBmp({ width: 4, height: 4, pixelAt: () => 0 }, { bits });
  bytes.writeInt32LE(10_000, 18);
  bytes.writeInt32LE(-5001, 22);
  expect(() => scanImage(bytes, 'image/bmp')).toThrow('image_too_large');
});

it('a side is limited to the 65,535 pixels that can be stored, however short the other side is', () => {
  for (const name of ['image/png 8 bit', 'image/png 16 bit', 'image/tiff 8 bit', 'image/bmp']) {
    expect(refusalByScan(name, { width: 65_535, height: 1 }), name).toBeUndefined();
    expect(refusalByScan(name, { width: 65_536, height: 1 }), name).toBe('image_too_large');
  }
});

it.each([
  ['image/jpeg baseline', 65_500],
  ['image/jpeg progressive', 65_500],
  ['image/avif 8 bit', 16_384],
  ['image/avif 10 bit', 16_384],
] as const)(
  'a side of %s is limited to %d pixels, beyond which decoders report damage',
  async (name, longest) => {
    expect(refusalByScan(name, { width: longest, height: 1 })).toBeUndefined();
    for (const size of [
      { width: longest + 1, height: 1 },
      { width: 1, height: longest + 1 },
    ]) {
      const { bytes, content_type } = lie(name, size);
      expect(await decoder.refusal(bytes, content_type)).toBe('image_too_large');
    }
  },
);

describe('the size limit of a stored image', () => {
  const MB = 1_000_000;

  it.each([
    ['a palette image of noise with 128 megapixels', 222, 128, true],
    ['a palette image that grew within the limit', 199, 128, false],
    ['an image that grew to 1.5 times its size', 300, 200, false],
    ['an image that grew to more than that', 301, 200, true],
    ['a 16-bit photograph that was almost as large before', 240, 236, false],
    ['anything above 400 MB', 401, 390, true],
  ] as const)(
    '%s: %d MB from an upload of %d MB exceeds it: %s',
    (_name, stored, upload, verdict) => {
      expect(isTooLong(stored * MB, upload * MB)).toBe(verdict);
    },
  );

  it('is never exceeded by an image of up to 200 MB, however much it grew', () => {
    const bytes = fc.integer({ min: 1, max: 200 * MB });
    fc.assert(fc.property(bytes, bytes, (stored, upload) => !isTooLong(stored, upload)));
  });
});
