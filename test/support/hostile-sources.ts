/** Small valid files of every format and variant, for tests to damage. Their names are unique. */
import sharp from 'sharp';
import { gridAvif } from './avif.ts';
import { printBmp, runLengths, wrapBmp } from './bmp.ts';
import { cameraJpeg, cutOut, deepPng, drawing, over, photograph, pngChunk } from './pictures.ts';
import { printTiff } from './tiff.ts';

export type Source = { name: string; content_type: string; bytes: Buffer };

export async function soundSources(): Promise<Source[]> {
  const families = [jpegs, pngs, webps, avifs, gifs, tiffs, bmps, svgs];
  const lists = await Promise.all(families.map((make) => make()));
  return lists.flat();
}

type Variants = Readonly<Record<string, Promise<Buffer> | Buffer>>;

async function named(family: string, content_type: string, variants: Variants): Promise<Source[]> {
  return Promise.all(
    Object.entries(variants).map(async ([variant, bytes]) => ({
      name: `${family} ${variant}`,
      content_type,
      bytes: await bytes,
    })),
  );
}

const photo = photograph(48, 40);
const flat = drawing(48, 40);
const round = cutOut(40, 40);

function jpegs() {
  return named('JPEG', 'image/jpeg', {
    '4:2:0': over(photo).jpeg().toBuffer(),
    '4:4:4': over(photo).jpeg({ chromaSubsampling: '4:4:4', quality: 95 }).toBuffer(),
    progressive: over(photo).jpeg({ progressive: true }).toBuffer(),
    grey: over(photo).toColourspace('b-w').jpeg().toBuffer(),
    CMYK: over(photo).toColourspace('cmyk').jpeg().toBuffer(),
    'of a camera': cameraJpeg(photo, 6),
    'with a profile': over(photo).jpeg().withIccProfile('p3').toBuffer(),
    trellis: over(photo).jpeg({ mozjpeg: true }).toBuffer(),
  });
}

function pngs() {
  return named('PNG', 'image/png', {
    RGB: over(photo).png().toBuffer(),
    RGBA: over(round).png().toBuffer(),
    palette: over(flat).png({ palette: true }).toBuffer(),
    'palette with alpha': over(round).png({ palette: true, colors: 16 }).toBuffer(),
    'one bit': over(flat).png({ palette: true, colors: 2 }).toBuffer(),
    grey: over(photo).toColourspace('b-w').png().toBuffer(),
    deep: deepPng(40, 30),
    interlaced: over(photo).png({ progressive: true }).toBuffer(),
    'with a profile': over(photo).png().withIccProfile('p3').toBuffer(),
    'grey with alpha': over(round).toColourspace('b-w').png().toBuffer(),
    'of linear light': over(photo).png().toBuffer().then(inLinearLight),
    'with metadata': over(photo)
      .png()
      .withExif({ IFD0: { Artist: 'Somebody' } })
      .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"/>')
      .toBuffer(),
  });
}

function webps() {
  return named('WebP', 'image/webp', {
    lossy: over(photo).webp().toBuffer(),
    lossless: over(flat).webp({ lossless: true }).toBuffer(),
    'lossy with alpha': over(round).webp().toBuffer(),
    'lossless with alpha': over(round).webp({ lossless: true }).toBuffer(),
    'near lossless': over(photo).webp({ nearLossless: true }).toBuffer(),
    'with metadata': over(photo)
      .webp()
      .withIccProfile('p3')
      .withExif({ IFD0: { Artist: 'Somebody' } })
      .toBuffer(),
  });
}

function avifs() {
  return named('AVIF', 'image/avif', {
    '4:2:0': over(photo).avif({ effort: 0, chromaSubsampling: '4:2:0' }).toBuffer(),
    '4:4:4': over(photo).avif({ effort: 0 }).toBuffer(),
    'with alpha': over(round).avif({ effort: 0 }).toBuffer(),
    lossless: over(flat).avif({ lossless: true, effort: 0 }).toBuffer(),
    'of Display P3 by numbers': gridAvif(photograph(64, 64), {
      columns: 1,
      rows: 1,
      codes: [12, 13, 6],
    }),
    'of tiles': gridAvif(photograph(128, 128), { columns: 2, rows: 2 }),
  });
}

/** Only the gamma chunk declares the linear light. */
function inLinearLight(png: Buffer): Buffer {
  const gamma = pngChunk('gAMA', Buffer.from([0, 1, 0x86, 0xa0]));
  return Buffer.concat([png.subarray(0, 33), gamma, png.subarray(33)]);
}

function gifs() {
  return named('GIF', 'image/gif', {
    opaque: over(flat).gif().toBuffer(),
    transparent: over(round).gif().toBuffer(),
    interlaced: over(flat).gif({ progressive: true }).toBuffer(),
    'of two colors': over(flat).gif({ colors: 2 }).toBuffer(),
  });
}

function tiffs() {
  const plane = Buffer.alloc(48 * 40, 90);
  const rows = Buffer.from(photo.data);
  const page = { width: 48, height: 40, samples: 3 };
  return named('TIFF', 'image/tiff', {
    LZW: over(photo).tiff({ compression: 'lzw' }).toBuffer(),
    'of deflated tiles': over(photograph(70, 50))
      .tiff({ compression: 'deflate', tile: true, tileWidth: 32, tileHeight: 32, bigtiff: true })
      .toBuffer(),
    'of JPEG strips': over(photo).tiff({ compression: 'jpeg' }).toBuffer(),
    packed: over(flat).tiff({ compression: 'packbits' }).toBuffer(),
    plain: over(round).tiff({ compression: 'none' }).toBuffer(),
    'one bit': over(flat)
      .toColourspace('b-w')
      .tiff({ bitdepth: 1, compression: 'none' })
      .toBuffer(),
    deep: deepPng(40, 30).then((png) =>
      sharp(png).toColourspace('rgb16').tiff({ compression: 'deflate' }).toBuffer(),
    ),
    'big-endian': printTiff([{ ...page, strips: [rows] }], { order: 'MM' }),
    'of planes': printTiff([{ ...page, strips: [plane, plane, plane] }]),
    BigTIFF: printTiff([{ ...page, strips: [rows] }], { isBig: true }),
  });
}

function bmps() {
  const grid = { width: 33, height: 20, pixelAt: (x: number, y: number) => (x * y) % 100 };
  const few = { ...grid, pixelAt: (x: number, y: number) => (x * y) % 16 };
  const one = { ...grid, pixelAt: (x: number, y: number) => (x * y) % 2 };
  const masks = [0xff0000, 0xff00, 0xff, 0xff000000] as const;
  const palette = (count: number) =>
    Array.from({ length: count }, (_, index) => [index, index, 255 - index] as const);
  const runs = (picture: typeof grid, bits: 4 | 8) =>
    wrapBmp(
      picture,
      { bits, palette: palette(1 << bits) },
      { rows: runLengths(picture, { bits }), compression: bits === 8 ? 1 : 2 },
    );
  return named('BMP', 'image/bmp', {
    '24 bit': printBmp(grid, { bits: 24 }),
    '32 bit with masks': printBmp(grid, { header: 108, bits: 32, masks }),
    '16 bit': printBmp(grid, { bits: 16 }),
    '8 bit': printBmp(grid, { bits: 8, palette: palette(256) }),
    '4 bit': printBmp(few, { bits: 4, palette: palette(16) }),
    '1 bit': printBmp(one, { bits: 1, palette: palette(2) }),
    'of 8 bit runs': runs(grid, 8),
    'of 4 bit runs': runs(few, 4),
    'with the oldest header': printBmp(grid, { header: 12, bits: 24 }),
    'top-down, with the newest header': printBmp(grid, {
      header: 124,
      bits: 24,
      order: 'top-down',
    }),
  });
}

/** Low, as the raster grid of a drawing is 2048 pixels wide, whatever the drawing's own size. */
const SVG = 'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 8" width="64" height="8"';

function svgs() {
  const of = (content: string) => Buffer.from(`<svg ${SVG}>${content}</svg>`);
  return named('SVG', 'image/svg+xml', {
    icon: of('<path d="M3 3l4-2 4 2v4a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1z" fill="none" stroke="red"/>'),
    'with gradients': of(
      '<defs><linearGradient id="a"><stop stop-color="red"/><stop offset="1" stop-color="#00f"/></linearGradient></defs><rect width="60" height="6" fill="url(#a)"/>',
    ),
    'with a filter': of(
      '<filter id="f"><feGaussianBlur stdDeviation="2"/></filter><circle cx="30" cy="4" r="2" filter="url(#f)"/>',
    ),
    'with styles': of(
      '<style>.a{fill:#0a0} #b>rect{opacity:.5}</style><g id="b"><rect class="a" width="30" height="6"/></g><text x="4" y="7">Text</text>',
    ),
    'with references': of(
      '<clipPath id="c"><circle cx="5" cy="4" r="3"/></clipPath><symbol id="s" viewBox="0 0 9 9"><rect width="9" height="9"/></symbol><g clip-path="url(#c)"><use href="#s" width="8" height="8"/></g>',
    ),
  });
}
