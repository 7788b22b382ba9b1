/** Decompression bombs and malformed PNG, JPEG, GIF and BMP files: false sizes, and data that never ends. */
import { deflateSync } from 'node:zlib';
import { wrapBmp } from './bmp.ts';
import type { HostileFile } from './hostile-corpus.ts';
import { over, photograph, pngChunk } from './pictures.ts';

type Made = { name: string; bytes: Buffer; header_code?: string };

export async function* rasterBombs(): AsyncGenerator<HostileFile> {
  yield* labelled('PNG', 'image/png', pngBombs());
  yield* labelled('GIF', 'image/gif', gifBombs());
  yield* labelled('BMP', 'image/bmp', bmpBombs());
  const jpeg = await over(photograph(48, 40)).jpeg().toBuffer();
  yield* labelled('JPEG', 'image/jpeg', jpegBombs(jpeg));
  const progressive = await over(photograph(48, 40)).jpeg({ progressive: true }).toBuffer();
  yield* labelled('JPEG', 'image/jpeg', scanBombs(progressive));
}

function* labelled(format: string, content_type: string, files: Iterable<Made>) {
  for (const made of files) {
    yield { ...made, family: 'bombs', content_type, name: `${format} ${made.name}` };
  }
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const ZEROS = deflateSync(Buffer.alloc(50_000_000));
const END = pngChunk('IEND', Buffer.alloc(0));

type PngHeader = {
  width: number;
  height: number;
  depth?: number;
  color?: number;
  rest?: number[];
};

function pngOf(header: PngHeader, ...chunks: Buffer[]): Buffer {
  const { width, height, depth = 8, color = 2, rest = [0, 0, 0] } = header;
  const body = Buffer.alloc(13);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  body.set([depth, color, ...rest], 8);
  return Buffer.concat([SIGNATURE, pngChunk('IHDR', body), ...chunks, END]);
}

function* pngBombs(): Generator<Made> {
  const data = pngChunk('IDAT', ZEROS);
  for (const [width, height] of [
    [65_535, 65_535],
    [2_147_483_647, 2_147_483_647],
    [4_294_967_295, 1],
    [1, 4_294_967_295],
    [100_000, 100_000],
    [20_000, 20_000],
    [65_536, 1000],
    [1000, 65_536],
  ] as const) {
    const bytes = pngOf({ width, height }, data);
    yield { name: `of ${width}x${height}`, bytes, header_code: 'image_too_large' };
  }
  yield {
    name: 'of no width',
    bytes: pngOf({ width: 0, height: 9 }, data),
    header_code: 'decode_failed',
  };
  yield {
    name: 'that unpacks to far more than its pixels',
    bytes: pngOf({ width: 8, height: 8 }, data),
  };
  yield {
    name: 'that unpacks to far less',
    bytes: pngOf({ width: 6000, height: 4000 }, pngChunk('IDAT', deflateSync(Buffer.alloc(9)))),
  };
  yield {
    name: 'of 16 bits, too large',
    bytes: pngOf({ width: 9000, height: 9000, depth: 16 }, data),
    header_code: 'image_too_large',
  };
  yield {
    name: 'of many empty pieces',
    bytes: pngOf({ width: 8, height: 8 }, ...Array(20_000).fill(pngChunk('IDAT', Buffer.alloc(0)))),
  };
  yield {
    name: 'with an unknown critical chunk',
    bytes: pngOf({ width: 8, height: 8 }, pngChunk('ABCD', Buffer.alloc(9)), data),
  };
  yield {
    name: 'with two headers',
    bytes: Buffer.concat([
      pngOf({ width: 8, height: 8 }),
      pngOf({ width: 9000, height: 9000 }, data).subarray(8),
    ]),
  };
  yield {
    name: 'with a palette of one byte',
    bytes: pngOf({ width: 8, height: 8, color: 3 }, pngChunk('PLTE', Buffer.alloc(1)), data),
  };
  yield {
    name: 'with a palette of 769 bytes',
    bytes: pngOf({ width: 8, height: 8, color: 3 }, pngChunk('PLTE', Buffer.alloc(771)), data),
  };
  yield { name: 'without its palette', bytes: pngOf({ width: 8, height: 8, color: 3 }, data) };
  yield {
    name: 'with transparency of 60,000 entries',
    bytes: pngOf(
      { width: 8, height: 8, color: 3 },
      pngChunk('PLTE', Buffer.alloc(6)),
      pngChunk('tRNS', Buffer.alloc(60_000)),
      data,
    ),
  };
  yield* pngHeaders(data);
}

function* pngHeaders(data: Buffer): Generator<Made> {
  for (const depth of [0, 1, 2, 3, 4, 8, 16, 32, 255]) {
    for (const color of [0, 1, 2, 3, 4, 5, 6, 7]) {
      yield {
        name: `of depth ${depth}, color ${color}`,
        bytes: pngOf({ width: 8, height: 8, depth, color }, data),
      };
    }
  }
  for (const rest of [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 2],
    [255, 255, 255],
  ]) {
    yield {
      name: `of coding ${rest}`,
      bytes: pngOf({ width: 8, height: 8, rest }, data),
      header_code: 'decode_failed',
    };
  }
}

type GifHeader = {
  width: number;
  height: number;
  inner?: readonly [number, number];
  data?: Buffer;
  code?: number;
};

function gifOf({
  width,
  height,
  inner = [width, height],
  data = Buffer.from([2, 0x44, 1]),
  code = 2,
}: GifHeader) {
  const head = Buffer.alloc(13);
  head.write('GIF89a');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  head[10] = 0x80;
  const frame = Buffer.alloc(11);
  frame[0] = 0x2c;
  frame.writeUInt16LE(inner[0], 5);
  frame.writeUInt16LE(inner[1], 7);
  frame[10] = code;
  return Buffer.concat([head, Buffer.alloc(6, 255), frame, data, Buffer.from([0, 0x3b])]);
}

function* gifBombs(): Generator<Made> {
  const large = { width: 65_535, height: 65_535 };
  const header_code = 'image_too_large';
  yield { name: 'of 65535x65535', bytes: gifOf(large), header_code };
  yield {
    name: 'of 65535x65535 with one pixel',
    bytes: gifOf({ ...large, inner: [1, 1] }),
    header_code,
  };
  yield {
    name: 'with a frame far beyond its canvas',
    bytes: gifOf({ width: 1, height: 1, inner: [65_535, 65_535] }),
  };
  yield {
    name: 'with a frame beyond its canvas',
    bytes: gifOf({ width: 8, height: 8, inner: [4000, 4000] }),
  };
  yield { name: 'without a size', bytes: gifOf({ width: 0, height: 0 }) };
  for (let code = 0; code < 16; code += 1) {
    yield { name: `of code size ${code}`, bytes: gifOf({ width: 8, height: 8, code }) };
  }
  const clears = Buffer.concat(
    Array(4000).fill(Buffer.concat([Buffer.from([255]), Buffer.alloc(255, 0x24)])),
  );
  yield {
    name: 'that clears its table for ever',
    bytes: gifOf({ width: 4000, height: 4000, data: clears }),
  };
  yield {
    name: 'whose data has no end',
    bytes: gifOf({ width: 4000, height: 4000, data: clears }).subarray(0, -2),
  };
  const frame = gifOf({ width: 8, height: 8 }).subarray(19, -1);
  const frames = (count: number) =>
    Buffer.concat([gifOf({ width: 8, height: 8 }).subarray(0, 19), ...Array(count).fill(frame)]);
  yield {
    name: 'of 100,000 frames',
    bytes: frames(100_000),
    header_code: 'animated_not_supported',
  };
  const comment = Buffer.concat([
    Buffer.from([0x21, 0xfe]),
    ...Array(8000).fill(Buffer.concat([Buffer.from([255]), Buffer.alloc(255, 65)])),
    Buffer.from([0]),
  ]);
  const sound = gifOf({ width: 8, height: 8 });
  yield {
    name: 'with 2 MB of comment',
    bytes: Buffer.concat([sound.subarray(0, 19), comment, sound.subarray(19)]),
  };
  yield {
    name: 'with 100,000 extensions',
    bytes: Buffer.concat([
      sound.subarray(0, 19),
      ...Array(100_000).fill(Buffer.from([0x21, 0xff, 0])),
      sound.subarray(19),
    ]),
  };
}

function* bmpBombs(): Generator<Made> {
  const picture = { width: 8, height: 8 };
  const rows = Buffer.alloc(8 * 24);
  const bmp = (lies: readonly { at: number; size: 2 | 4; value: number }[], compression = 0) =>
    wrapBmp(picture, { bits: 24, lies }, { rows, compression });
  for (const [width, height] of [
    [65_535, 65_535],
    [0x7fffffff, 0x7fffffff],
    [0x7fffffff, 1],
    [1, 0x80000000],
    [20_000, 0xffffb1e0],
    [0x80000000, 8],
    [0, 8],
    [8, 0],
  ] as const) {
    yield {
      name: `of ${width}x${height}`,
      bytes: bmp([
        { at: 18, size: 4, value: width },
        { at: 22, size: 4, value: height },
      ]),
    };
  }
  for (const bits of [0, 1, 2, 3, 4, 8, 12, 16, 32, 64, 65_535]) {
    for (const compression of [0, 1, 2, 3, 4, 5, 6, 11, 0xffffffff]) {
      yield {
        name: `of ${bits} bits, coding ${compression}`,
        bytes: bmp([{ at: 28, size: 2, value: bits }], compression),
      };
    }
  }
  for (const [name, at] of [
    ['its length', 2],
    ['its pixels', 10],
    ['its header', 14],
    ['its data', 34],
    ['its palette', 46],
    ['its important colors', 50],
  ] as const) {
    for (const value of [0, 1, 13, 0x7fffffff, 0xffffffff]) {
      yield { name: `that says ${value} of ${name}`, bytes: bmp([{ at, size: 4, value }]) };
    }
  }
  const palette = Array.from({ length: 256 }, () => [1, 2, 3] as const);
  const runs = (width: number, height: number, rle: Buffer) =>
    wrapBmp({ width, height }, { bits: 8, palette }, { rows: rle, compression: 1 });
  yield {
    name: 'of 6000x6000 in four bytes of runs',
    bytes: runs(6000, 6000, Buffer.from([0, 1, 0, 1])),
  };
  yield { name: 'whose runs leave the picture', bytes: runs(8, 8, Buffer.alloc(100_000, 255)) };
  yield {
    name: 'whose runs move out of the picture',
    bytes: runs(8, 8, Buffer.concat(Array(9000).fill(Buffer.from([0, 2, 255, 255])))),
  };
  yield { name: 'whose runs are empty for ever', bytes: runs(4000, 4000, Buffer.alloc(4_000_000)) };
}

function at(file: Buffer, marker: number): number {
  return file.indexOf(Buffer.from([0xff, marker]));
}

function* jpegBombs(jpeg: Buffer): Generator<Made> {
  const frame = at(jpeg, 0xc0);
  const lie = (
    name: string,
    offset: number,
    bytes: readonly number[],
    header_code?: string,
  ): Made => {
    const damaged = Buffer.from(jpeg);
    damaged.set(bytes, frame + offset);
    return header_code === undefined
      ? { name, bytes: damaged }
      : { name, bytes: damaged, header_code };
  };
  yield lie('of 65500x65500', 5, [0xff, 0xdc, 0xff, 0xdc], 'image_too_large');
  yield lie('of 65535x65535', 5, [0xff, 0xff, 0xff, 0xff], 'image_too_large');
  yield lie('of 8000x8000 with 48x40 of data', 5, [0x1f, 0x40, 0x1f, 0x40]);
  yield lie('without a height', 5, [0, 0], 'decode_failed');
  yield lie('without a width', 7, [0, 0], 'decode_failed');
  for (const precision of [0, 1, 7, 9, 12, 16, 255]) {
    yield lie(`of ${precision} bits`, 4, [precision], 'unsupported_media_type');
  }
  for (const count of [0, 2, 5, 255])
    yield lie(`of ${count} components`, 9, [count], 'unsupported_media_type');
  for (const sampling of [0x00, 0x01, 0x10, 0x14, 0x41, 0x44, 0x55, 0xff]) {
    yield lie(`sampled as ${sampling.toString(16)}`, 11, [sampling]);
  }
  for (const marker of [0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]) {
    yield lie(`of frame ${marker.toString(16)}`, 1, [marker]);
  }
  const put = (part: Buffer, where = 2) =>
    Buffer.concat([jpeg.subarray(0, where), part, jpeg.subarray(where)]);
  const segment = (marker: number, body: Buffer) => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(body.length + 2, 2);
    return Buffer.concat([head, body]);
  };
  const large = segment(0xe5, Buffer.alloc(65_533, 65));
  yield { name: 'with 200 full segments', bytes: put(Buffer.concat(Array(200).fill(large))) };
  yield {
    name: 'with 200,000 empty segments',
    bytes: put(Buffer.concat(Array(200_000).fill(segment(0xe5, Buffer.alloc(0))))),
  };
  yield {
    name: 'with 60,000 bytes of tables',
    bytes: put(segment(0xdb, Buffer.alloc(65 * 900, 3))),
  };
  yield { name: 'with deep tables', bytes: put(segment(0xdb, Buffer.alloc(129, 0x10))) };
  yield {
    name: 'with code tables that lie',
    bytes: put(segment(0xc4, Buffer.alloc(17, 0xff)), frame),
  };
  yield { name: 'with two frames', bytes: put(jpeg.subarray(frame, frame + 19), frame) };
  yield {
    name: 'with a restart at each block',
    bytes: put(segment(0xdd, Buffer.from([0, 1])), frame),
  };
  yield { name: 'with a million fill bytes', bytes: put(Buffer.alloc(1_000_000, 0xff)) };
}

/** Each scan of a progressive JPEG covers the whole image. */
function* scanBombs(jpeg: Buffer): Generator<Made> {
  const frame = at(jpeg, 0xc2);
  const scan = at(jpeg, 0xda);
  const next = jpeg.indexOf(Buffer.from([0xff, 0xc4]), scan);
  const first = jpeg.subarray(scan, next);
  for (const [count, side] of [
    [1000, 40],
    [1000, 4000],
    [5000, 8000],
    [20_000, 11_000],
  ] as const) {
    const damaged = Buffer.concat([
      jpeg.subarray(0, scan),
      ...Array(count).fill(first),
      jpeg.subarray(next),
    ]);
    damaged.writeUInt16BE(side, frame + 5);
    damaged.writeUInt16BE(side, frame + 7);
    yield { name: `of ${count} scans over ${side}x${side}`, bytes: damaged };
  }
}
