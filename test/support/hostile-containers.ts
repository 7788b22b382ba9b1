/** Decompression bombs and malformed files in container formats: TIFF, WebP and AVIF. */
import { deflateSync } from 'node:zlib';
import { box, gridAvif } from './avif.ts';
import type { HostileFile } from './hostile-corpus.ts';
import { cutOut, over, photograph } from './pictures.ts';
import { printTiff } from './tiff.ts';

type Made = { name: string; bytes: Buffer; header_code?: string };

export async function* containerBombs(): AsyncGenerator<HostileFile> {
  yield* labelled('TIFF', 'image/tiff', tiffBombs());
  const lossy = await over(photograph(48, 40)).webp().toBuffer();
  const lossless = await over(cutOut(40, 40)).webp({ lossless: true }).toBuffer();
  yield* labelled('WebP', 'image/webp', webpBombs(lossy, lossless));
  const avif = await over(photograph(48, 40)).avif({ effort: 0 }).toBuffer();
  const grid = await gridAvif(photograph(128, 128), { columns: 2, rows: 2 });
  yield* labelled('AVIF', 'image/avif', avifBombs(avif));
  yield* labelled('AVIF of tiles', 'image/avif', avifBombs(grid));
  yield* labelled('AVIF', 'image/avif', tileBombs(grid));
}

function* labelled(format: string, content_type: string, files: Iterable<Made>) {
  for (const made of files) {
    yield { ...made, family: 'bombs', content_type, name: `${format} ${made.name}` };
  }
}

const HUGE = [0, 1, 65_535, 0x7fffffff, 0xffffffff];
const page = { width: 16, height: 16, samples: 3, strips: [Buffer.alloc(16 * 16 * 3, 90)] };

function* tiffBombs(): Generator<Made> {
  for (const [tag, meaning] of Object.entries({
    256: 'width',
    257: 'height',
    258: 'bits',
    259: 'compression',
    262: 'photometric',
    277: 'samples',
    278: 'rows a strip',
    279: 'strip length',
    284: 'planes',
    317: 'predictor',
    322: 'tile width',
    323: 'tile height',
    324: 'tile offset',
    325: 'tile length',
    338: 'extra samples',
    339: 'sample format',
  })) {
    for (const value of HUGE) {
      yield {
        name: `of ${meaning} ${value}`,
        bytes: printTiff([{ ...page, tags: { [tag]: [value] } }]),
      };
    }
  }
  for (const compression of [
    2, 3, 4, 5, 6, 7, 8, 32_773, 32_946, 34_676, 34_712, 34_925, 50_000, 50_001, 50_002,
  ]) {
    yield {
      name: `coded as ${compression}`,
      bytes: printTiff([{ ...page, tags: { 259: [compression] } }]),
    };
  }
  const large = { ...page, width: 65_535, height: 65_535 };
  for (const isBig of [false, true]) {
    yield {
      name: `of 65535x65535${isBig ? ', BigTIFF' : ''}`,
      bytes: printTiff([large], { isBig }),
      header_code: 'image_too_large',
    };
  }
  const bomb = { ...page, strips: [deflateSync(Buffer.alloc(50_000_000))], tags: { 259: [8] } };
  yield { name: 'whose strip unpacks to far more', bytes: printTiff([bomb]) };
  yield {
    name: 'of one strip for 7000x7000',
    bytes: printTiff([{ ...bomb, width: 7000, height: 2000 }]),
  };
  yield {
    name: 'of 60,000 strips',
    bytes: printTiff([
      { ...page, tags: { 273: Array(60_000).fill(8), 279: Array(60_000).fill(4), 278: [1] } },
    ]),
  };
  yield {
    name: 'of 1000 pages',
    bytes: printTiff(Array(1000).fill(page)),
    header_code: 'animated_not_supported',
  };
  yield* tiffLoops();
}

function* tiffLoops(): Generator<Made> {
  for (const isBig of [false, true]) {
    const bytes = printTiff([page], { isBig });
    const first = isBig ? 16 : 8;
    const count = isBig ? Number(bytes.readBigUInt64LE(first)) : bytes.readUInt16LE(first);
    const next = first + (isBig ? 8 + count * 20 : 2 + count * 12);
    for (const [name, offset] of [
      ['itself', first],
      ['its header', 0],
      ['nowhere', 0x7ffffff0],
      ['its pixels', bytes.length - 20],
    ] as const) {
      const damaged = Buffer.from(bytes);
      damaged.writeUInt32LE(offset, next);
      yield { name: `whose next page is ${name}${isBig ? ', BigTIFF' : ''}`, bytes: damaged };
      const started = Buffer.from(bytes);
      started.writeUInt32LE(offset, isBig ? 8 : 4);
      yield { name: `whose first page is ${name}${isBig ? ', BigTIFF' : ''}`, bytes: started };
    }
    const many = Buffer.from(bytes);
    if (isBig) many.writeBigUInt64LE(2n ** 60n, first);
    else many.writeUInt16LE(65_535, first);
    yield { name: `with more entries than bytes${isBig ? ', BigTIFF' : ''}`, bytes: many };
    for (let entry = 0; entry < count; entry += 1) {
      const damaged = Buffer.from(bytes);
      const place = first + (isBig ? 8 + entry * 20 : 2 + entry * 12) + 4;
      if (isBig) damaged.writeBigUInt64LE(2n ** 62n, place);
      else damaged.writeUInt32LE(0xffffffff, place);
      yield {
        name: `whose entry ${entry} has too many values${isBig ? ', BigTIFF' : ''}`,
        bytes: damaged,
      };
    }
  }
}

function riff(...chunks: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks]);
  const head = Buffer.from('RIFF\0\0\0\0');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

function chunk(type: string, body: Buffer, says = body.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(type);
  head.writeUInt32LE(says, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

function canvas(width: number, height: number, flags = 0): Buffer {
  const body = Buffer.alloc(10);
  body[0] = flags;
  body.writeUIntLE(width - 1, 4, 3);
  body.writeUIntLE(height - 1, 7, 3);
  return chunk('VP8X', body);
}

function* webpBombs(lossy: Buffer, lossless: Buffer): Generator<Made> {
  const picture = lossy.subarray(12);
  const header_code = 'image_too_large';
  yield {
    name: 'of a canvas of 16777216x16777216',
    bytes: riff(canvas(16_777_216, 16_777_216), picture),
    header_code,
  };
  yield {
    name: 'of a canvas of 16383x16383',
    bytes: riff(canvas(16_383, 16_383), picture),
    header_code,
  };
  yield { name: 'of a canvas larger than its picture', bytes: riff(canvas(4000, 4000), picture) };
  yield { name: 'of a canvas smaller than its picture', bytes: riff(canvas(1, 1), picture) };
  for (const flags of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
    yield { name: `with flags ${flags}`, bytes: riff(canvas(48, 40, flags), picture) };
  }
  const size = lossy.indexOf(Buffer.from([0x9d, 1, 0x2a])) + 3;
  for (const [width, height] of [
    [16_383, 16_383],
    [0, 0],
    [16_383, 1],
    [4000, 4000],
    [0xffff, 0xffff],
  ] as const) {
    const damaged = Buffer.from(lossy);
    damaged.writeUInt16LE(width, size);
    damaged.writeUInt16LE(height, size + 2);
    yield { name: `lossy of ${width}x${height}`, bytes: damaged };
  }
  for (const bits of [0xffffffff, 0x0fffffff, 0x1fffffff, 0]) {
    const damaged = Buffer.from(lossless);
    damaged.writeUInt32LE(bits, lossless.indexOf('VP8L') + 9);
    yield { name: `lossless of bits ${bits.toString(16)}`, bytes: damaged };
  }
  for (const type of ['VP8 ', 'VP8L', 'ALPH', 'ICCP', 'EXIF', 'XMP ', 'ANIM', 'ANMF', 'JUNK']) {
    yield {
      name: `with a ${type} that says too much`,
      bytes: riff(canvas(48, 40, 255), chunk(type, Buffer.alloc(20), 0xfffffff0), picture),
    };
    yield {
      name: `with 5000 ${type}`,
      bytes: riff(canvas(48, 40, 255), ...Array(5000).fill(chunk(type, Buffer.alloc(20))), picture),
    };
    yield {
      name: `with an empty ${type}`,
      bytes: riff(canvas(48, 40, 255), chunk(type, Buffer.alloc(0)), picture),
    };
  }
}

function* avifBombs(avif: Buffer): Generator<Made> {
  for (const [width, height] of [
    [0x7fffffff, 0x7fffffff],
    [0xffffffff, 1],
    [65_536, 65_536],
    [20_000, 20_000],
    [0, 0],
    [1, 1],
  ] as const) {
    const damaged = Buffer.from(avif);
    const place = damaged.indexOf('ispe') + 8;
    damaged.writeUInt32BE(width, place);
    damaged.writeUInt32BE(height, place + 4);
    yield { name: `of ${width}x${height}`, bytes: damaged };
  }
  for (const type of [
    'ftyp',
    'meta',
    'hdlr',
    'pitm',
    'iloc',
    'iinf',
    'infe',
    'iprp',
    'ipco',
    'ispe',
    'av1C',
    'pixi',
    'ipma',
    'iref',
    'mdat',
  ]) {
    const place = avif.indexOf(type) - 4;
    if (place < 0) continue;
    for (const size of [0, 1, 7, 8, 9, 0x7fffffff, 0xffffffff]) {
      const damaged = Buffer.from(avif);
      damaged.writeUInt32BE(size, place);
      yield { name: `whose ${type} says ${size}`, bytes: damaged };
    }
    for (const value of [0x0000, 0xffff]) {
      const damaged = Buffer.from(avif);
      damaged.writeUInt16BE(value, Math.min(place + 12, avif.length - 2));
      yield { name: `whose ${type} counts ${value}`, bytes: damaged };
    }
  }
  let nested: Buffer = box('free', Buffer.alloc(4));
  for (let depth = 0; depth < 5000; depth += 1) nested = box('meta', Buffer.alloc(4), nested);
  const ftyp = avif.readUInt32BE(0);
  yield {
    name: 'with boxes 5000 deep',
    bytes: Buffer.concat([avif.subarray(0, ftyp), nested, avif.subarray(ftyp)]),
  };
  const empty = box('free');
  yield {
    name: 'with 100,000 empty boxes',
    bytes: Buffer.concat([
      avif.subarray(0, ftyp),
      ...Array(100_000).fill(empty),
      avif.subarray(ftyp),
    ]),
  };
  yield { name: 'of nothing but brands', bytes: avif.subarray(0, ftyp) };
}

function* tileBombs(grid: Buffer): Generator<Made> {
  const data = grid.indexOf('mdat') + 4;
  for (const [rows, columns] of [
    [255, 255],
    [255, 0],
    [0, 0],
    [3, 3],
  ] as const) {
    for (const side of [128, 65_535]) {
      const damaged = Buffer.from(grid);
      damaged.set([0, 0, rows, columns], data);
      damaged.writeUInt16BE(side, data + 4);
      damaged.writeUInt16BE(side, data + 6);
      yield { name: `of ${rows + 1}x${columns + 1} tiles, ${side} px`, bytes: damaged };
    }
  }
  const references = grid.indexOf('dimg') + 4;
  for (const id of [0, 1, 0xffff]) {
    const damaged = Buffer.from(grid);
    for (let tile = 0; tile < 4; tile += 1) damaged.writeUInt16BE(id, references + 4 + tile * 2);
    yield { name: `whose tiles are all item ${id}`, bytes: damaged };
  }
}
