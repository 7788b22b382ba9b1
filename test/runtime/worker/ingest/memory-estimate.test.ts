// What a decoder child takes at its peak is never more than what was estimated from the header, in a process of its
// own each, by the kernel's word. Spec: Limits, Uploads; Processing error codes.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Sharp } from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { over, photograph } from '../../../support/pictures.ts';

const PROGRAM = join(import.meta.dirname, '../../../bench/sanitize-alone.ts');
const pictures = [photograph(300, 300), photograph(2000, 1500)];
const ESTIMATE_TIMES_PEAK_MAX = 2;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-memory-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const kinds: readonly (readonly [name: string, type: string, encode: (picture: Sharp) => Sharp])[] =
  [
    ['JPEG', 'image/jpeg', (picture) => picture.jpeg()],
    ['progressive JPEG', 'image/jpeg', (picture) => picture.jpeg({ progressive: true })],
    ['PNG', 'image/png', (picture) => picture.png()],
    ['interlaced PNG', 'image/png', (picture) => picture.png({ progressive: true })],
    ['WebP', 'image/webp', (picture) => picture.webp({ effort: 0 })],
    ['lossless WebP', 'image/webp', (picture) => picture.webp({ lossless: true, effort: 0 })],
    ['AVIF', 'image/avif', (picture) => picture.avif({ effort: 0 })],
    ['AVIF of 10 bits', 'image/avif', (picture) => picture.avif({ effort: 0, bitdepth: 10 })],
    ['GIF', 'image/gif', (picture) => picture.gif({ effort: 1 })],
    ['TIFF', 'image/tiff', (picture) => picture.tiff({ compression: 'lzw' })],
  ];

it.each(kinds)(
  '%s takes no more memory than was estimated, and not less than half of it',
  async (_name, type, encode) => {
    for (const picture of pictures) {
      const bytes = await encode(over(picture)).toBuffer();
      const { estimate_bytes, peak_bytes } = await measure(bytes, type);
      expect(peak_bytes).toBeLessThanOrEqual(estimate_bytes);
      expect(estimate_bytes / peak_bytes).toBeLessThanOrEqual(ESTIMATE_TIMES_PEAK_MAX);
    }
  },
  60_000,
);

async function measure(bytes: Buffer, type: string) {
  const file = join(folder, 'source');
  writeFileSync(file, bytes);
  // As the decoder child has them.
  const env = { ...process.env, MALLOC_ARENA_MAX: '2', VIPS_DISC_THRESHOLD: '1000g' };
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, file, type], { env });
  return JSON.parse(stdout) as { estimate_bytes: number; peak_bytes: number };
}
