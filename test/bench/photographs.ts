/** Real photographs if Debian's mate-backgrounds is installed, otherwise generated images. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';

export type Photograph = { name: string; bytes: Buffer; megapixels: number };

const FOLDER = '/usr/share/backgrounds/mate/abstract';
const REAL = ['Elephants_5640x3172.jpg', 'Elephants_3840x2160.jpg'];

export async function findPhotographs(): Promise<Photograph[]> {
  const paths = REAL.map((name) => `${FOLDER}/${name}`).filter((path) => existsSync(path));
  const bytes =
    paths.length > 0 ? await Promise.all(paths.map((path) => readFile(path))) : [await makeOne()];
  return Promise.all(bytes.map(describe));
}

async function describe(bytes: Buffer): Promise<Photograph> {
  const { width, height } = await sharp(bytes).metadata();
  const megapixels = (width * height) / 1e6;
  return { name: `${megapixels.toFixed(1)} MP JPEG`, bytes, megapixels };
}

function makeOne(): Promise<Buffer> {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 40 };
  return sharp({ create: { width: 5184, height: 3456, channels: 3, background: '#777', noise } })
    .blur(3)
    .jpeg({ quality: 92 })
    .toBuffer();
}
