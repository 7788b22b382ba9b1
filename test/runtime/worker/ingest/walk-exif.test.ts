import { describe, expect, it } from 'vitest';
import { walkExif } from '../../../../runtime/worker/ingest/walk-exif.ts';
import { cameraJpeg, photograph } from '../../../support/pictures.ts';

type Entry = readonly [tag: number, value: number];

/** An EXIF block with these directories one after another, the first at offset 8. */
function exif(order: 'II' | 'MM', directories: readonly (readonly Entry[])[]): Buffer {
  const number = (value: number, size: 2 | 4) => {
    const bytes = Buffer.alloc(size);
    if (order === 'II') bytes.writeUIntLE(value, 0, size);
    else bytes.writeUIntBE(value, 0, size);
    return bytes;
  };
  const printed = directories.map((entries) => {
    const rows = entries.map(([tag, value]) => [
      number(tag, 2),
      number(4, 2),
      number(1, 4),
      number(value, 4),
    ]);
    return Buffer.concat([number(entries.length, 2), ...rows.flat(), number(0, 4)]);
  });
  return Buffer.concat([Buffer.from(order), number(42, 2), number(8, 4), ...printed]);
}

const entries = (count: number, entry: Entry) => Array.from({ length: count }, () => entry);

describe.each(['II', 'MM'] as const)('an EXIF block in byte order %s', (order) => {
  it.each([
    ['with every entry pointing to itself', [entries(1000, [0x8769, 8])]],
    ['with a GPS directory pointing to itself', [entries(300, [0x8825, 8])]],
    [
      'of many pointers to one large directory',
      [entries(100, [0xa005, 8 + 6 + 1200]), entries(1000, [1, 1])],
    ],
    ['with far too many entries', [entries(60_000, [1, 1])]],
  ])('%s is rejected', (_, directories) => {
    const block = exif(order, directories);
    expect(() => walkExif(Buffer.concat([Buffer.alloc(99, 7), block]))).toThrow(/directories/);
  });

  it('with circular references is rejected however many harmless blocks precede it', () => {
    const maze = exif(order, [entries(1000, [0x8769, 8])]);
    const harmless = exif(order, [entries(1, [1, 1])]);
    const before = Array.from({ length: 1000 }, () => harmless);
    expect(() => walkExif(Buffer.concat([...before, maze]))).toThrow(/directories/);
    walkExif(Buffer.concat(before));
  });

  it('is rejected as one of many harmless blocks that together have too many entries', () => {
    const block = exif(order, [entries(45_000, [1, 1])]);
    const many = Buffer.concat(Array.from({ length: 20 }, () => block));
    expect(() => walkExif(many)).toThrow(/directories/);
  });

  it.each([
    ['with some entries', [entries(200, [1, 1])]],
    ['with one entry that points to itself', [[[0x8769, 8] as const]]],
    ['with an entry that points outside', [[[0x8769, 0xffffff00] as const]]],
    ['that is truncated', [entries(9, [0x8825, 100])]],
  ])('%s is accepted', (_, directories) => {
    const block = exif(order, directories);
    walkExif(block);
    walkExif(block.subarray(0, 40));
  });
});

it.each([1, 3, 6])(
  'the EXIF block of a camera JPEG is accepted with orientation %i',
  async (orientation) => {
    const bytes = await cameraJpeg(photograph(48, 40), orientation);
    expect(walkExif(bytes)).toEqual({ is_turned: orientation !== 1 });
  },
);
