/** Uploads that are not photographs, where reading a half-way image shows most: text, lines, edges, ramps and noise. */
import sharp, { type Sharp } from 'sharp';
import type { Decoder } from '../decoder.ts';
import { cutOut, drawing, over, seededRandom } from '../pictures.ts';
import type { Subject } from './compare.ts';
import {
  coloredText,
  HEIGHT,
  lineArt,
  logotype,
  screenshot,
  textPage,
  WIDTH,
} from './documents.ts';

/** Generates the image when it is read. */
export type Graphic = Pick<Subject, 'name' | 'family'> & { read(): Promise<Subject> };

/** The decoder draws the SVG documents, because its fonts are the same on every machine. */
export function listGraphics(decoder: Decoder): Graphic[] {
  const draw = (svg: string) => () => drawn(decoder, svg);
  const text = draw(textPage());
  const colored = draw(coloredText());
  const desktop = draw(screenshot());
  const lines = draw(lineArt());
  const logo = draw(logotype());
  const blocks = async () => over(drawing(WIDTH, HEIGHT));
  const cut = async () => over(cutOut(1300, 1300));
  return [
    graphic(['a page of text', 'text'], text, (it) => it.png()),
    graphic(['a page of text, JPEG', 'text'], text, (it) => it.flatten().jpeg({ quality: 85 })),
    graphic(['colored text', 'text'], colored, (it) => it.png()),
    graphic(['colored text, JPEG', 'text'], colored, (it) => it.flatten().jpeg({ quality: 85 })),
    graphic(['a screenshot', 'screenshot'], desktop, (it) => it.removeAlpha().png()),
    graphic(['a screenshot, palette', 'screenshot'], desktop, (it) =>
      it.png({ palette: true, dither: 0 }),
    ),
    graphic(['a screenshot, WebP', 'screenshot'], desktop, (it) =>
      it.webp({ lossless: true, effort: 1 }),
    ),
    graphic(['a screenshot, GIF', 'screenshot'], desktop, (it) => it.gif({ dither: 0 })),
    graphic(['line art, seen through', 'alpha'], lines, (it) => it.png()),
    graphic(['a logo, seen through', 'alpha'], logo, (it) => it.png()),
    graphic(['a logo, WebP', 'alpha'], logo, (it) => it.webp({ quality: 85 })),
    graphic(['a cut-out, WebP', 'alpha'], cut, (it) => it.webp({ quality: 90 })),
    graphic(['ramps', 'gradient'], ramps, (it) => it.png()),
    graphic(['ramps, JPEG', 'gradient'], ramps, (it) => it.jpeg({ quality: 92 })),
    graphic(['ramps of 16 bits', 'gradient'], ramps, (it) => it.toColourspace('rgb16').png()),
    graphic(['rings, ever finer', 'edges'], rings, (it) => it.png()),
    graphic(['blocks', 'edges'], blocks, (it) => it.png()),
    graphic(['blocks, JPEG', 'edges'], blocks, (it) => it.jpeg({ quality: 90 })),
    graphic(['noise', 'noise'], noise, (it) => it.png({ compressionLevel: 1 })),
    graphic(['noise, JPEG', 'noise'], noise, (it) => it.jpeg({ quality: 90 })),
    graphic(['noise, grey', 'noise'], noise, (it) => it.greyscale().jpeg({ quality: 90 })),
    vector('text, SVG', textPage()),
    vector('lines, SVG', lineArt()),
  ];
}

function graphic(
  [name, family]: readonly [name: string, family: string],
  draw: () => Promise<Sharp>,
  print: (picture: Sharp) => Sharp,
): Graphic {
  const read = async () => {
    const picture = print(await draw());
    const { data, info } = await picture.toBuffer({ resolveWithObject: true });
    return { name, family, content_type: `image/${info.format}`, bytes: data };
  };
  return { name, family, read };
}

function vector(name: string, document: string): Graphic {
  const known = { name, family: 'vector' };
  const bytes = Buffer.from(document);
  return { ...known, read: async () => ({ ...known, content_type: 'image/svg+xml', bytes }) };
}

async function drawn(decoder: Decoder, document: string): Promise<Sharp> {
  const { mezzanines } = await decoder.ingest(Buffer.from(document), 'image/svg+xml');
  const [grid] = mezzanines;
  if (grid === undefined) throw new Error('a document without a grid');
  return sharp(grid.bytes);
}

type Sample = (x: number, y: number) => readonly [number, number, number];

async function painted(width: number, height: number, sample: Sample): Promise<Sharp> {
  const data = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at += 1) {
    data.set(sample(at % width, Math.floor(at / width)), at * 3);
  }
  return over({ data, width, height, channels: 3 });
}

/** Horizontal, vertical and radial. */
function ramps(): Promise<Sharp> {
  return painted(WIDTH, HEIGHT, (x, y) => [
    Math.round((255 * x) / WIDTH),
    Math.round((255 * y) / HEIGHT),
    Math.round((180 * Math.hypot(x - WIDTH / 2, y - HEIGHT / 2)) / WIDTH),
  ]);
}

/** The rings get narrower: wide in the middle, one pixel each at the edges. */
function rings(): Promise<Sharp> {
  const side = 1600;
  return painted(side, side, (x, y) => {
    const distance = Math.hypot(x - side / 2, y - side / 2);
    const value = Math.round(127.5 + 127.5 * Math.cos((Math.PI * distance ** 2) / side));
    return [value, value, value];
  });
}

function noise(): Promise<Sharp> {
  const random = seededRandom(7);
  const one = () => Math.floor(256 * random());
  return painted(1600, 1200, () => [one(), one(), one()]);
}
