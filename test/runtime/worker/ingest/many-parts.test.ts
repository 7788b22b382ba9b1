// Files with many small parts that cost more than their bytes: chunks kept in memory, and tags that the image library
// searches for among all others or reads repeatedly. Spec: Processing error codes.
import { beforeAll, describe, expect, it } from 'vitest';
import { changeTiff } from '../../../../runtime/worker/ingest/change-tiff.ts';
import { openTiff } from '../../../../runtime/worker/ingest/tiff-directory.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { over, photograph, pngChunk } from '../../../support/pictures.ts';
import { printTiff, type TiffPage } from '../../../support/tiff.ts';

const decoder = useDecoder();
const NOTHING = Buffer.alloc(0);
let png: Buffer;
let webp: Buffer;

beforeAll(async () => {
  const picture = over(photograph(40, 30));
  png = await picture.clone().png().toBuffer();
  webp = await picture.webp().toBuffer();
});

describe('a PNG', () => {
  const withChunks = (count: number) => {
    const afterHeader = 8 + 25;
    const chunks = Buffer.concat(Array<Buffer>(count).fill(pngChunk('abCd', NOTHING)));
    return Buffer.concat([png.subarray(0, afterHeader), chunks, png.subarray(afterHeader)]);
  };

  it('is accepted with 9,000 chunks before its pixels and rejected with 11,000', async () => {
    expect(await decoder.refusal(withChunks(9000), 'image/png')).toBeUndefined();
    expect(await decoder.refusal(withChunks(11_000), 'image/png')).toBe('decode_failed');
  });
});

describe('a WebP', () => {
  const withChunks = (type: string, count: number) => {
    const chunk = Buffer.from(`${type}\0\0\0\0`);
    const file = Buffer.concat([
      webp.subarray(0, 12),
      ...Array<Buffer>(count).fill(chunk),
      webp.subarray(12),
    ]);
    file.writeUInt32LE(file.length - 8, 4);
    return file;
  };

  it('is rejected with 11,000 chunks, as animated if they are frames', async () => {
    expect(await decoder.refusal(withChunks('JUNK', 11_000), 'image/webp')).toBe('decode_failed');
    const film = withChunks('ANMF', 11_000);
    expect(await decoder.refusal(film, 'image/webp')).toBe('animated_not_supported');
  });
});

describe('a TIFF', () => {
  const TIFF = 'image/tiff';
  const page: TiffPage = { width: 16, height: 16, samples: 3, strips: [Buffer.alloc(768, 90)] };
  const withTags = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [20_000 + index, [1]]));

  it('is accepted with 400 unknown tags and rejected with 4,000', async () => {
    const upload = (count: number) => printTiff([{ ...page, tags: withTags(count) }]);
    expect(await decoder.refusal(upload(400), TIFF)).toBeUndefined();
    expect(await decoder.refusal(upload(4000), TIFF)).toBe('decode_failed');
  });

  it('is rejected if all of its strips share the same place, unless they are short', async () => {
    const [height, row] = [400, 16 * 3];
    const rows = (bytes: number) => {
      const one = printTiff([{ width: 16, height, samples: 3, strips: [Buffer.alloc(bytes, 90)] }]);
      const { first, directory } = openTiff(one);
      const [at = 0] = directory(first).numbers(273);
      const each = (value: number) => Array<number>(height).fill(value);
      return changeTiff(one, { 278: [1], 273: each(at), 279: each(bytes) });
    };
    expect(await decoder.refusal(rows(row), TIFF)).toBeUndefined();
    expect(await decoder.refusal(rows(400 * row), TIFF)).toBe('decode_failed');
  });

  it.each([false, true])(
    'is rejected if many tags refer to the same bytes, BigTIFF: %s',
    async (isBig) => {
      const text = Array<number>(3000).fill(7);
      const first = printTiff([{ ...page, tags: { 20000: text } }], { isBig });
      expect(await decoder.refusal(first, TIFF)).toBeUndefined();
      const upload = printTiff([{ ...page, tags: { ...withTags(20), 20000: text } }], { isBig });
      const [entries, head, size] = isBig ? [24, 16, 20] : [10, 8, 12];
      const count = upload.readUInt16LE(head);
      const places = Array.from({ length: count }, (_, index) => entries + index * size);
      const place = (tag: number) => places.find((at) => upload.readUInt16LE(at) === tag) ?? 0;
      for (let tag = 20_001; tag < 20_020; tag += 1) {
        upload.copy(upload, place(tag) + 2, place(20_000) + 2, place(20_000) + size);
      }
      expect(await decoder.refusal(upload, TIFF)).toBe('decode_failed');
    },
  );
});
