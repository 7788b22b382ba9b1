/** The same photograph in every format that is stored, from real ones where Debian's mate-backgrounds is installed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { findPhotographs } from '../photographs.ts';

export type Source = { name: string; file: string; content_type: string; bytes: Buffer };

/** Its pixels are those of all. */
export const LOSSLESS = 'photo.png';
const WIDTH = 4960;

export async function makeSources(folder: string): Promise<Source[]> {
  const [photograph] = await findPhotographs();
  if (photograph === undefined) throw new Error('no photograph to compare with');
  const pixels = await sharp(photograph.bytes)
    .resize(WIDTH)
    .png({ compressionLevel: 1 })
    .toBuffer();
  const { height = 0 } = await sharp(pixels).metadata();
  const size = `${((WIDTH * height) / 1e6).toFixed(1)} MP`;
  const made = {
    'photo.jpg': ['JPEG', sharp(pixels).jpeg({ quality: 90 })],
    'progressive.jpg': ['progressive JPEG', sharp(pixels).jpeg({ quality: 90, progressive: true })],
    [LOSSLESS]: ['PNG', sharp(pixels).png({ compressionLevel: 6 })],
    'photo.webp': ['WebP', sharp(pixels).webp({ quality: 85, effort: 2 })],
    'photo.avif': ['AVIF', sharp(pixels).avif({ quality: 60, effort: 2 })],
  } as const;
  mkdirSync(folder, { recursive: true });
  const sources: Source[] = [];
  for (const [file, [kind, picture]] of Object.entries(made)) {
    const bytes = await picture.toBuffer();
    writeFileSync(join(folder, file), bytes);
    const content_type = `image/${kind.split(' ').at(-1)?.toLowerCase()}`;
    sources.push({ name: `${size} ${kind}`, file, content_type, bytes });
  }
  return sources;
}
