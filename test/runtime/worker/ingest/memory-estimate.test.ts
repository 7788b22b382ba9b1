// A decoder never uses more memory than was estimated from the header. Each image is decoded in a process of its own,
// or after a much smaller one; the kernel reports its peak. Spec: Limits, Uploads; Processing error codes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  readProgramSources,
  SOURCES_FD,
} from '../../../../runtime/worker/sandbox/program-sources.ts';
import { asAlpha, flatItem, printAvif } from '../../../support/avif-items.ts';
import { flatScansJpeg } from '../../../support/flat-scans-jpeg.ts';
import { over, photograph, pngChunk } from '../../../support/pictures.ts';
import { filterOfResults, square } from '../../../support/svg-square.ts';
import { printTiff } from '../../../support/tiff.ts';
import { webpOfSets } from '../../../support/webp-sets.ts';

const PROGRAM = new URL('../../../bench/sanitize-alone.ts', import.meta.url);
const BOOT = new URL('../../../../runtime/worker/sandbox/boot.js', import.meta.url);
/** From small to large: one process decodes both, and its peak never falls. */
const pictures = [photograph(300, 300), photograph(1600, 1200)];
/** Leaves room, since the memory that Node's own files occupy differs between machines. */
const ESTIMATE_TIMES_PEAK_MAX = 2.5;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-memory-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const fast = { compressionLevel: 1 };
const kinds: readonly (readonly [name: string, type: string, encode: (picture: Sharp) => Sharp])[] =
  [
    ['JPEG', 'image/jpeg', (picture) => picture.jpeg()],
    ['progressive JPEG', 'image/jpeg', (picture) => picture.jpeg({ progressive: true })],
    ['PNG', 'image/png', (picture) => picture.png(fast)],
    ['transparent PNG', 'image/png', (picture) => picture.ensureAlpha(0.5).png(fast)],
    ['interlaced PNG', 'image/png', (picture) => picture.png({ ...fast, progressive: true })],
    ['WebP', 'image/webp', (picture) => picture.webp({ effort: 0 })],
    ['lossless WebP', 'image/webp', (picture) => picture.webp({ lossless: true, effort: 0 })],
    ['AVIF', 'image/avif', (picture) => picture.avif({ effort: 0 })],
    ['AVIF of 10 bits', 'image/avif', (picture) => picture.avif({ effort: 0, bitdepth: 10 })],
    ['GIF', 'image/gif', (picture) => picture.gif({ effort: 1 })],
    ['TIFF', 'image/tiff', (picture) => picture.tiff({ compression: 'lzw' })],
  ];

it.each(kinds)(
  'decoding takes at most the estimated memory, and at least two fifths of it: %s',
  async (_name, type, encode) => {
    const encoded = await Promise.all(pictures.map((one) => encode(over(one)).toBuffer()));
    for (const { estimate_bytes, peak_bytes } of await measure(encoded, type)) {
      expect(peak_bytes).toBeLessThanOrEqual(estimate_bytes);
      expect(estimate_bytes / peak_bytes).toBeLessThanOrEqual(ESTIMATE_TIMES_PEAK_MAX);
    }
  },
  300_000,
);

/** An ICC profile and XMP, each 8 MB when decompressed. */
function withProfileAndXmp(png: Buffer): Buffer {
  const profile = Buffer.alloc(7_900_000);
  profile.writeUInt32BE(profile.length, 0);
  profile.write('RGB XYZ ', 16);
  profile.write('acsp', 36);
  const chunks = [
    pngChunk('iCCP', Buffer.concat([Buffer.from('a\0\0'), deflateSync(profile)])),
    pngChunk('iTXt', Buffer.concat([Buffer.from('XML:com.adobe.xmp\0\x01\0\0\0'), packedText()])),
  ];
  const afterHeader = 8 + 25;
  return Buffer.concat([png.subarray(0, afterHeader), ...chunks, png.subarray(afterHeader)]);
}

const packedText = () => deflateSync(Buffer.alloc(7_900_000, 'a'));

function withTexts(png: Buffer): Buffer {
  const packed = packedText();
  const texts = ['zTXt', 'iTXt'].flatMap((kind) => {
    const head = Buffer.from(kind === 'zTXt' ? 'Comment\0\0' : 'Comment\0\x01\0\0\0');
    return Array<Buffer>(10).fill(pngChunk(kind, Buffer.concat([head, packed])));
  });
  const afterHeader = 8 + 25;
  return Buffer.concat([png.subarray(0, afterHeader), ...texts, png.subarray(afterHeader)]);
}

const [COMPRESSION, PHOTOMETRIC, SUBSAMPLING] = [259, 262, 530];

function jpegTiff(side: number): Buffer {
  const size = { width: side, height: side };
  const tags = { [COMPRESSION]: [7], [PHOTOMETRIC]: [6], [SUBSAMPLING]: [1, 1] };
  return printTiff([{ ...size, samples: 3, strips: [flatScansJpeg(size)], tags }]);
}

it.each([
  [
    'a PNG with compressed texts',
    'image/png',
    async () => withTexts(await over(photograph(600, 400)).png().toBuffer()),
  ],
  [
    'a JPEG with non-interleaved components',
    'image/jpeg',
    async () => flatScansJpeg({ width: 6000, height: 6000 }),
  ],
  [
    'a PNG with a compressed profile and compressed XMP',
    'image/png',
    async () => withProfileAndXmp(await over(photograph(64, 48)).png().toBuffer()),
  ],
  [
    'a large JPEG that has to be rotated',
    'image/jpeg',
    () => {
      const create = { width: 8000, height: 6000, channels: 3, background: '#567' } as const;
      return sharp({ create }).jpeg().withMetadata({ orientation: 6 }).toBuffer();
    },
  ],
  [
    'a lossy transparent WebP',
    'image/webp',
    () => {
      const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
      const create = { width: 1700, height: 1550, channels: 4, background: '#567', noise } as const;
      return sharp({ create }).webp({ effort: 0 }).toBuffer();
    },
  ],
  ['a WebP with Huffman codes for each block', 'image/webp', async () => webpOfSets(1024, 65_536)],
  ['a TIFF with one large JPEG strip', 'image/tiff', async () => jpegTiff(5000)],
  [
    'an AVIF whose alpha image is larger than its color image',
    'image/avif',
    async () => {
      const items = [await flatItem(64, 64), asAlpha(await flatItem(7000, 4000))];
      return printAvif(items, [{ type: 'auxl', from: 2, to: [1] }]);
    },
  ],
])(
  'decoding %s takes no more memory than estimated',
  async (_name, type, make) => {
    const { estimate_bytes, peak_bytes } = await measureOne(await make(), type);
    expect(peak_bytes).toBeLessThanOrEqual(estimate_bytes);
  },
  120_000,
);

/** Each is drawn on before the next: the pages of an empty one may not take memory yet. */
function layers(count: number): string {
  const layer = '<g opacity=".5"><rect width="2048" height="2048"/>';
  return `${layer.repeat(count)}${'</g>'.repeat(count)}`;
}

const drawings: readonly (readonly [name: string, body: string])[] = [
  ['of one shape', '<rect width="9" height="9" fill="red"/>'],
  [
    'of many shapes',
    Array.from(
      { length: 18_000 },
      (_, at) => `<path d="M${at % 2000} 9l${at % 7} 20 30 ${at % 9}z" fill="#123"/>`,
    ).join(''),
  ],
  ['of eight layers', layers(8)],
  ['of thirty layers', layers(30)],
  [
    'of masks within masks, blurred',
    `<mask id="m"><rect width="2048" height="2048"/></mask><mask id="n"><g mask="url(#m)"><rect width="2048" height="2048"/></g></mask>
      <filter id="f"><feGaussianBlur stdDeviation="20"/></filter><g mask="url(#n)"><circle r="2048"/><circle r="500" filter="url(#f)"/></g>`,
  ],
  [
    'of results that a filter keeps',
    `${filterOfResults(40)}<rect width="2048" height="2048" filter="url(#f)"/>`,
  ],
  [
    'of a tile larger than itself',
    '<pattern id="p" width="4000" height="4000" patternUnits="userSpaceOnUse"><rect width="4000" height="4000"/></pattern><rect width="2048" height="2048" fill="url(#p)"/>',
  ],
  [
    'of round dashes',
    `<path stroke="red" stroke-width="30" stroke-linecap="round" stroke-dasharray="2" d="${'M0 99h2048'.repeat(30)}"/>`,
  ],
];

it.each(drawings.map(([name, body]) => [name, square(body)] as const))(
  'decoding an SVG %s takes at most the estimated memory, and at least two fifths of it',
  async (_name, document) => {
    const { estimate_bytes, peak_bytes } = await measureOne(Buffer.from(document), 'image/svg+xml');
    expect(peak_bytes).toBeLessThanOrEqual(estimate_bytes);
    expect(estimate_bytes / peak_bytes).toBeLessThanOrEqual(ESTIMATE_TIMES_PEAK_MAX);
  },
  300_000,
);

type Measured = { estimate_bytes: number; peak_bytes: number };

async function measureOne(bytes: Buffer, type: string): Promise<Measured> {
  const [measured] = await measure([bytes], type);
  if (measured === undefined) throw new Error('nothing was measured');
  return measured;
}

/** Decodes the images in one process, in their order. */
async function measure(images: readonly Buffer[], type: string): Promise<Measured[]> {
  const files = images.map((bytes, at) => {
    const file = join(folder, `source-${at}`);
    writeFileSync(file, bytes);
    return file;
  });
  // Started as decoders are: with their environment, and with sources that have no types.
  const { NODE_COMPILE_CACHE: _, ...own } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(BOOT), PROGRAM.href, ...files, type], {
    env: { ...own, MALLOC_ARENA_MAX: '2', VIPS_DISC_THRESHOLD: '1000g' },
    stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'ignore', 'pipe'],
  });
  (child.stdio.at(SOURCES_FD) as Writable).end(readProgramSources(PROGRAM));
  const [printed, [code]] = await Promise.all([
    text(child.stdout as Readable),
    once(child, 'close'),
  ]);
  if (code !== 0) throw new Error(`it ended with ${code}`);
  const lines = printed.trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Measured);
}
