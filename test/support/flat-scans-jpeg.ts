/**
 * A gray baseline JPEG with each of its three components in a separate scan. Every block takes two bits, at any image
 * size.
 */

export function flatScansJpeg({ width, height }: { width: number; height: number }): Buffer {
  const colors = [1, 2, 3];
  const sides = Buffer.alloc(4);
  sides.writeUInt16BE(height, 0);
  sides.writeUInt16BE(width, 2);
  const frame = [8, ...sides, colors.length, ...colors.flatMap((name) => [name, 0x11, 0])];
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  const data = Buffer.alloc(Math.ceil((blocks * 2) / 8));
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, [0, ...Array<number>(64).fill(1)]),
    segment(0xc0, frame),
    // Huffman tables with a single code for 0: a DC difference of zero, and the end of the block.
    ...[0x00, 0x10].map((table) => segment(0xc4, [table, 1, ...Array<number>(15).fill(0), 0])),
    ...colors.flatMap((name) => [segment(0xda, [1, name, 0, 0, 63, 0]), data]),
    Buffer.from([0xff, 0xd9]),
  ]);
}

function segment(marker: number, body: readonly number[]): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, Buffer.from(body)]);
}
