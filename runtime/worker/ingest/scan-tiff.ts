/**
 * The TIFF directories, classic and BigTIFF: one page of integer samples in a coding that the decoder supports. Reduced
 * copies and masks behind the first page do not count as pages and are ignored.
 */
import { TIFF_PIXELS_MAX } from '../../core/limits.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import type { HeaderFacts } from './scan.ts';
import { type Directory, damaged, openTiff } from './tiff-directory.ts';
import { hasDeepPalette } from './tiff-palette.ts';
import { tag } from './tiff-tags.ts';

const JPEG = 7;
/** None, the three fax codings, LZW, JPEG, Deflate under both of its numbers, PackBits. */
const COMPRESSIONS = [1, 2, 3, 4, 5, JPEG, 8, 32946, 32773];
const SEPARATE = 2;
const UNSIGNED = 1;
const REDUCED = 1;
const MASK = 4;
const DIRECTORIES_MAX = 32;
/** As many pieces as the smallest tiles of all samples. */
const PIECES_MAX = 1_000_000;

type Colors = { samples: number; bits: readonly number[] };
const PALETTE = 3;
const INKS = 5;
const YCBCR = 6;
/** By photometric interpretation: white is zero, black is zero, RGB, palette, CMYK, YCbCr. */
const colors: Readonly<Record<number, Colors>> = {
  0: { samples: 1, bits: [1, 2, 4, 8, 16] },
  1: { samples: 1, bits: [1, 2, 4, 8, 16] },
  2: { samples: 3, bits: [8, 16] },
  [PALETTE]: { samples: 1, bits: [1, 2, 4, 8] },
  [INKS]: { samples: 4, bits: [8, 16] },
  [YCBCR]: { samples: 3, bits: [8] },
};

export function scanTiff(bytes: Buffer): HeaderFacts {
  const tiff = openTiff(bytes);
  const first = tiff.directory(tiff.first);
  if ((first.number(tag.subfile) ?? 0) & REDUCED) throw unsupported('a thumbnail comes first');
  const [width, height] = [first.number(tag.width), first.number(tag.height)];
  if (!width || !height) throw damaged('no size');
  refuseHugeTiles(first);
  const samples = readSamples(first);
  refuseRepetition(first, bytes.length + 2 * width * height * samples.count * (samples.bits / 8));
  return {
    content_type: 'image/tiff',
    width,
    height,
    is_turned: (first.number(tag.orientation) ?? 1) !== 1,
    coded_pixels: codedPixels(first, { width, height, ...samples }),
    bits_per_channel: samples.layout === 'deep_palette' ? 16 : Math.max(samples.bits, 8),
    has_alpha: samples.has_extra,
    is_lossless: samples.compression !== JPEG,
    frames: countPages(tiff, first),
    quality: null,
    chroma: null,
    is_palette: samples.photometric === PALETTE,
    layout: samples.layout,
    has_inks: samples.photometric === INKS,
  };
}

function readSamples(page: Directory) {
  const compression = page.number(tag.compression) ?? 1;
  const photometric = page.number(tag.photometric);
  if (!COMPRESSIONS.includes(compression)) throw unsupported(`compression ${compression}`);
  if (photometric === undefined) throw damaged('no kind of colors');
  const expected = colors[photometric];
  // With other codings the reader would have to convert the colors.
  const isForeign = photometric === YCBCR && compression !== JPEG;
  if (expected === undefined || isForeign) throw unsupported(`colors of kind ${photometric}`);
  const count = page.number(tag.samples) ?? 1;
  const extra = count - expected.samples;
  if (extra < 0 || extra > 1) throw unsupported(`${count} samples a pixel`);
  const [bits = 1, ...others] = page.numbers(tag.bits);
  if (!expected.bits.includes(bits) || others.some((other) => other !== bits)) {
    throw unsupported(`${[bits, ...others].join(', ')} bits`);
  }
  if (page.numbers(tag.format).some((format) => format !== UNSIGNED)) {
    throw unsupported('samples that are not whole numbers');
  }
  const layout = readLayout(page, { photometric, count, bits });
  return { compression, photometric, count, bits, has_extra: extra === 1, layout };
}

type Samples = { photometric: number; count: number; bits: number };

function readLayout(page: Directory, { photometric, count, bits }: Samples): HeaderFacts['layout'] {
  const isSeparate = page.number(tag.planes) === SEPARATE && count > 1;
  if (isSeparate && page.number(tag.tileWidth)) {
    // Subsampled colors have fewer samples than pixels, and small samples share bytes.
    if (photometric === YCBCR || bits < 8) throw unsupported('such planes in tiles');
    return 'tiled_planes';
  }
  const isDeep = photometric === PALETTE && count === 1 && hasDeepPalette(page);
  return isDeep ? 'deep_palette' : undefined;
}

type Coded = { width: number; height: number; compression: number; photometric: number };

/**
 * A tile may be larger than the image. A JPEG strip or tile may be progressive; it is then held as
 * a whole in addition to its result: two bytes per sample and more.
 */
function codedPixels(page: Directory, { width, height, compression, photometric }: Coded): number {
  const [tileWidth, tileHeight] = [page.number(tag.tileWidth), page.number(tag.tileHeight)];
  const piece = tileWidth
    ? tileWidth * (tileHeight ?? 0)
    : width * Math.min(page.number(tag.stripRows) ?? height, height);
  const held = compression === JPEG ? (photometric === INKS ? 3 : 2) * piece : 0;
  return Math.max(width * height, piece) + held;
}

/**
 * Pieces (strips or tiles) that share one place are read again for each piece. Blank ones may
 * share; but all pieces together are hardly longer than the file, or than their result.
 */
function refuseRepetition(page: Directory, bytesMax: number): void {
  for (const name of [tag.stripBytes, tag.tileBytes]) {
    if (!page.entries.has(name)) continue;
    const lengths = page.allNumbers(name, PIECES_MAX);
    const sum = lengths.reduce((all, bytes) => all + bytes, 0);
    if (lengths.length === 0 || sum > 2 * bytesMax) throw damaged('pieces that repeat the file');
  }
}

function refuseHugeTiles(page: Directory): void {
  const [width, height] = [page.number(tag.tileWidth) ?? 0, page.number(tag.tileHeight) ?? 0];
  if (width * height > TIFF_PIXELS_MAX) {
    throw new IngestRefusal('image_too_large', `TIFF: tiles of ${width}x${height}`);
  }
}

/** Stops at the second page, one more than allowed. */
function countPages(tiff: ReturnType<typeof openTiff>, first: Directory): number {
  const seen = new Set([tiff.first]);
  let at = first.next;
  while (at !== 0) {
    if (seen.has(at) || seen.size >= DIRECTORIES_MAX) throw damaged('directories without end');
    seen.add(at);
    const page = tiff.directory(at);
    if (((page.number(tag.subfile) ?? 0) & (REDUCED | MASK)) === 0) return 2;
    at = page.next;
  }
  return 1;
}

function unsupported(detail: string): IngestRefusal {
  return new IngestRefusal('unsupported_media_type', `TIFF: ${detail}`);
}
