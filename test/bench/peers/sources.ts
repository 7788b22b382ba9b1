/**
 * The sources for all peers: photographs as saved by cameras, one photograph in every stored format, and graphics. The
 * photographs come from Debian's wallpaper packages.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { createDecoder } from '../../support/decoder.ts';
import { listGraphics } from '../../support/quality/graphics.ts';
import { photographPath } from '../quality/photographs.ts';

export type Format = 'jpeg' | 'webp' | 'avif' | 'png';
export type Source = {
  name: string;
  file: string;
  content_type: string;
  bytes: Buffer;
  /** The output formats to request. */
  formats: readonly Format[];
  /** The source's pixels as an encoded image, to compare renders with. */
  pixels: Buffer;
};

export type SourceGroup = 'photographs' | 'formats' | 'graphics';
type Made = Omit<Source, 'pixels'> & { pixels?: Buffer };

export async function makeSources(
  folder: string,
  groups: readonly SourceGroup[],
): Promise<Source[]> {
  mkdirSync(folder, { recursive: true });
  const sources: Source[] = [];
  for (const group of groups) {
    for (const made of await makers[group]()) {
      writeFileSync(join(folder, made.file), made.bytes);
      sources.push({ ...made, pixels: made.pixels ?? made.bytes });
    }
  }
  return sources;
}

const makers: Readonly<Record<SourceGroup, () => Promise<Made[]>>> = {
  photographs: makePhotographs,
  formats: makeFormats,
  graphics: makeGraphics,
};

/**
 * Unmodified photographs, except that the one of 24 megapixels is the largest one, enlarged by a
 * twelfth, and the one of 2.8 has the size at which other servers publish their figures.
 */
async function makePhotographs(): Promise<Made[]> {
  const read = (name: string) => readFile(photographPath(`backgrounds/${name}`));
  const stream = await read('life_by_Aitzol_Berasategi.jpg');
  const sunset = await read('sunset_by_Aitzol_Berasategi.jpg');
  const bird = await read('Kleiber_by_Lukas_Baubkus.jpg');
  const large = () => sharp(bird).resize(6540);
  const small = sharp(bird).resize(2040, 1356);
  return Promise.all([
    jpeg('stream', stream),
    jpeg('stream-baseline', await sharp(stream).jpeg({ quality: 90 }).toBuffer()),
    jpeg('sunset', sunset),
    jpeg('sunset-baseline', await sharp(sunset).jpeg({ quality: 90 }).toBuffer()),
    jpeg('bird', bird),
    jpeg('large', await large().jpeg({ quality: 90 }).toBuffer()),
    jpeg('large-progressive', await large().jpeg({ quality: 90, progressive: true }).toBuffer()),
    jpeg('small', await small.jpeg({ quality: 90 }).toBuffer(), ['jpeg', 'webp']),
  ]);
}

async function jpeg(
  name: string,
  bytes: Buffer,
  formats: readonly Format[] = ['jpeg'],
): Promise<Made> {
  const { width, height, isProgressive } = await sharp(bytes).metadata();
  const size = `${((width * height) / 1e6).toFixed(1)} MP`;
  const kind = isProgressive ? 'progressive JPEG' : 'JPEG';
  const file = `${name}.jpg`;
  return { name: `${size} ${kind}`, file, content_type: 'image/jpeg', bytes, formats };
}

const WIDTH = 4960;

/** One detailed photograph, with the same pixels in each format. */
async function makeFormats(): Promise<Made[]> {
  const path = photographPath('backgrounds/mate/abstract/Elephants_5640x3172.jpg');
  const pixels = await sharp(path).resize(WIDTH).png({ compressionLevel: 1 }).toBuffer();
  const open = () => sharp(pixels);
  const made: [string, string, Sharp, readonly Format[]][] = [
    ['photo.jpg', 'JPEG', open().jpeg({ quality: 90 }), ['jpeg', 'webp', 'avif']],
    ['photo-p.jpg', 'progressive JPEG', open().jpeg({ quality: 90, progressive: true }), ['jpeg']],
    ['photo.png', 'PNG', open().png({ compressionLevel: 6 }), ['jpeg']],
    ['photo.webp', 'WebP', open().webp({ quality: 85, effort: 2 }), ['jpeg']],
    ['photo.avif', 'AVIF', open().avif({ quality: 60, effort: 2 }), ['jpeg']],
  ];
  return Promise.all(
    made.map(async ([file, kind, picture, formats]) => {
      const content_type = `image/${kind.split(' ').at(-1)?.toLowerCase()}`;
      const bytes = await picture.toBuffer();
      return { name: `13.8 MP ${kind}`, file, content_type, bytes, formats, pixels };
    }),
  );
}

const GRAPHICS: readonly [string, string, readonly Format[]][] = [
  ['a logo, seen through', 'logo.png', ['png', 'webp']],
  ['a screenshot', 'screenshot.png', ['png', 'webp']],
];

async function makeGraphics(): Promise<Made[]> {
  const decoder = createDecoder();
  try {
    const found = listGraphics(decoder);
    return await Promise.all(
      GRAPHICS.map(async ([name, file, formats]) => {
        const graphic = found.find((one) => one.name === name);
        if (graphic === undefined) throw new Error(`no graphic ${name}`);
        const { bytes, content_type } = await graphic.read();
        return { name: `3.6 MP PNG, ${name}`, file, content_type, bytes, formats };
      }),
    );
  } finally {
    await decoder.close();
  }
}
