/** Encodes samples as PNG files of every color type and depth, with or without interlacing. */
import { deflateSync } from 'node:zlib';
import { pngChunk } from './pictures.ts';

export type PngSamples = {
  width: number;
  height: number;
  depth: 1 | 2 | 4 | 8 | 16;
  /** The PNG color type: gray, RGB, palette, gray with alpha, or RGBA. */
  color: 0 | 2 | 3 | 4 | 6;
  /** One sample per channel of the color type. */
  samplesAt(x: number, y: number): readonly number[];
  order?: 'by rows' | 'interlaced';
  /** Chunks before the image data, such as palette and transparency. */
  chunks?: readonly Buffer[];
};

type Pass = readonly [left: number, top: number, stepX: number, stepY: number];
const WHOLE: readonly Pass[] = [[0, 0, 1, 1]];
const ADAM7: readonly Pass[] = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
];

export function printPng(picture: PngSamples): Buffer {
  const { width, height, depth, color, order, chunks = [] } = picture;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, color, 0, 0, order === 'interlaced' ? 1 : 0], 8);
  const rows = (order === 'interlaced' ? ADAM7 : WHOLE).flatMap((pass) => printPass(picture, pass));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...chunks,
    pngChunk('IDAT', deflateSync(Buffer.concat(rows))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function printPass(picture: PngSamples, [left, top, stepX, stepY]: Pass): Buffer[] {
  const { width, height, depth, samplesAt } = picture;
  const rows: Buffer[] = [];
  for (let y = top; y < height; y += stepY) {
    const samples: number[] = [];
    for (let x = left; x < width; x += stepX) samples.push(...samplesAt(x, y));
    if (samples.length > 0) rows.push(Buffer.from([0]), packed(samples, depth));
  }
  return rows;
}

/** The first sample is in the most significant bits. */
function packed(samples: readonly number[], depth: number): Buffer {
  const bits = samples.map((sample) => sample.toString(2).padStart(depth, '0')).join('');
  const bytes = Buffer.alloc(Math.ceil(bits.length / 8));
  for (const [at] of bytes.entries()) {
    bytes[at] = Number.parseInt(bits.slice(at * 8, at * 8 + 8).padEnd(8, '0'), 2);
  }
  return bytes;
}
