/** What is uploaded beside photographs, where a half-way image would be seen first: text, lines, edges, ramps, noise. */
import sharp, { type Sharp } from 'sharp';
import type { Decoder } from '../decoder.ts';
import { cutOut, drawing, over, seededRandom } from '../pictures.ts';
import type { Subject } from './compare.ts';
import {
  colouredText,
  HEIGHT,
  lineArt,
  logotype,
  screenshot,
  textPage,
  WIDTH,
} from './documents.ts';

/** Documents are drawn by the decoder, whose fonts are the same everywhere. */
export async function makeGraphics(decoder: Decoder): Promise<Subject[]> {
  const draw = (svg: string) => drawn(decoder, svg);
  const text = await draw(textPage());
  const desktop = await draw(screenshot());
  const logo = await draw(logotype());
  const coloured = await draw(colouredText());
  const lines = await draw(lineArt());
  const blocks = () => over(drawing(WIDTH, HEIGHT));
  return Promise.all([
    printed('a page of text', 'text', text().png()),
    printed('a page of text, JPEG', 'text', text().flatten().jpeg({ quality: 85 })),
    printed('coloured text, JPEG', 'text', coloured().flatten().jpeg({ quality: 85 })),
    printed('coloured text', 'text', coloured().png()),
    printed('a screenshot', 'screenshot', desktop().removeAlpha().png()),
    printed('a screenshot, palette', 'screenshot', desktop().png({ palette: true, dither: 0 })),
    printed('a screenshot, WebP', 'screenshot', desktop().webp({ lossless: true, effort: 1 })),
    printed('a screenshot, GIF', 'screenshot', desktop().gif({ dither: 0 })),
    printed('line art, seen through', 'alpha', lines().png()),
    printed('a logo, seen through', 'alpha', logo().png()),
    printed('a logo, WebP', 'alpha', logo().webp({ quality: 85 })),
    printed('a cut-out, WebP', 'alpha', over(cutOut(1300, 1300)).webp({ quality: 90 })),
    printed('ramps', 'gradient', ramps().png()),
    printed('ramps, JPEG', 'gradient', ramps().jpeg({ quality: 92 })),
    deepRamps(),
    printed('rings, ever finer', 'edges', rings().png()),
    printed('blocks', 'edges', blocks().png()),
    printed('blocks, JPEG', 'edges', blocks().jpeg({ quality: 90 })),
    printed('noise', 'noise', noise().png({ compressionLevel: 1 })),
    printed('noise, JPEG', 'noise', noise().jpeg({ quality: 90 })),
    printed('noise, grey', 'noise', noise().greyscale().jpeg({ quality: 90 })),
    vector('text, SVG', textPage()),
    vector('lines, SVG', lineArt()),
  ]);
}

async function printed(name: string, family: string, picture: Sharp): Promise<Subject> {
  const { data, info } = await picture.toBuffer({ resolveWithObject: true });
  return { name, family, content_type: `image/${info.format}`, bytes: data };
}

function vector(name: string, document: string): Subject {
  return { name, family: 'vector', content_type: 'image/svg+xml', bytes: Buffer.from(document) };
}

async function deepRamps(): Promise<Subject> {
  const bytes = await ramps().toColourspace('rgb16').png().toBuffer();
  return { name: 'ramps of 16 bits', family: 'gradient', content_type: 'image/png', bytes };
}

async function drawn(decoder: Decoder, document: string): Promise<() => Sharp> {
  const { mezzanines } = await decoder.ingest(Buffer.from(document), 'image/svg+xml');
  const [grid] = mezzanines;
  if (grid === undefined) throw new Error('a document without a grid');
  return () => sharp(grid.bytes);
}

type Sample = (x: number, y: number) => readonly [number, number, number];

function painted(width: number, height: number, sample: Sample): Sharp {
  const data = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at += 1) {
    data.set(sample(at % width, Math.floor(at / width)), at * 3);
  }
  return over({ data, width, height, channels: 3 });
}

/** Along, across, and around the middle. */
function ramps(): Sharp {
  return painted(WIDTH, HEIGHT, (x, y) => [
    Math.round((255 * x) / WIDTH),
    Math.round((255 * y) / HEIGHT),
    Math.round((180 * Math.hypot(x - WIDTH / 2, y - HEIGHT / 2)) / WIDTH),
  ]);
}

/** From flat in the middle to a pixel a ring at the sides. */
function rings(): Sharp {
  const side = 1600;
  return painted(side, side, (x, y) => {
    const distance = Math.hypot(x - side / 2, y - side / 2);
    const value = Math.round(127.5 + 127.5 * Math.cos((Math.PI * distance ** 2) / side));
    return [value, value, value];
  });
}

function noise(): Sharp {
  const random = seededRandom(7);
  const one = () => Math.floor(256 * random());
  return painted(1600, 1200, () => [one(), one(), one()]);
}
