// What an AVIF contains besides the image that it shows: transparency and tiles with sizes of their own, derived items
// and damaged ones. Spec: Limits, Uploads (image pixel limits); Processing error codes.
import { beforeAll, describe, expect, it } from 'vitest';
import { estimateCost } from '../../../../runtime/worker/ingest/decode-cost.ts';
import { scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import {
  type AvifItem,
  type AvifReference,
  asAlpha,
  flatItem,
  gridItem,
  printAvif,
} from '../../../support/avif-items.ts';
import { useDecoder } from '../../../support/decoder.ts';

const AVIF = 'image/avif';
const decoder = useDecoder();
let small: AvifItem;
let large: AvifItem;

beforeAll(async () => {
  [small, large] = await Promise.all([flatItem(64, 64), flatItem(3000, 2000)]);
});

const alphaOf = (from: number, to: number): AvifReference => ({ type: 'auxl', from, to: [to] });
const tilesOf = (from: number, to: number[]): AvifReference => ({ type: 'dimg', from, to });
const hidden = (item: AvifItem): AvifItem => ({ ...item, isHidden: true });
const memoryOf = (bytes: Buffer) => estimateCost(scanImage(bytes, AVIF), bytes).memory_bytes;

describe('the memory estimate of an AVIF', () => {
  it('counts alpha that is larger than the image', async () => {
    const same = printAvif([small, asAlpha(small)], [alphaOf(2, 1)]);
    const upload = printAvif([small, asAlpha(large)], [alphaOf(2, 1)]);
    expect(memoryOf(upload)).toBeGreaterThan(memoryOf(same) + 1e8);
    expect(await decoder.ingest(upload, AVIF)).toMatchObject({ width: 64, has_alpha: true });
  });

  it('counts the alpha of a tile each time the tile is used', async () => {
    const grid = gridItem({ width: 128, height: 64 }, { columns: 2, rows: 1 });
    const seenThrough = (alpha: AvifItem) =>
      printAvif([grid, hidden(small), asAlpha(alpha)], [tilesOf(1, [2, 2]), alphaOf(3, 2)]);
    const [same, upload] = [seenThrough(small), seenThrough(large)];
    expect(memoryOf(upload)).toBeGreaterThan(memoryOf(same) + 2e8);
    expect(await decoder.ingest(same, AVIF)).toMatchObject({ width: 128, has_alpha: true });
  });

  it('counts tiles that extend far beyond the edges of their grid', async () => {
    const grid = gridItem({ width: 64, height: 64 }, { columns: 2, rows: 2 });
    const upload = printAvif([grid, hidden(large)], [tilesOf(1, [2, 2, 2, 2])]);
    expect(memoryOf(upload)).toBeGreaterThan(memoryOf(printAvif([small], [])) + 4e8);
    expect(await decoder.ingest(upload, AVIF)).toMatchObject({ width: 64, height: 64 });
  });
});

describe('an AVIF', () => {
  it('is rejected with image_too_large if its image or alpha tiles are far larger than allowed', async () => {
    const grid = gridItem({ width: 64, height: 64 }, { columns: 4, rows: 4 });
    const tiles = Array<number>(16).fill(2);
    const seen = printAvif([grid, hidden(large)], [tilesOf(1, tiles)]);
    expect(await decoder.refusal(seen, AVIF)).toBe('image_too_large');
    const items = [small, asAlpha(grid), hidden(large)];
    const alpha = printAvif(items, [alphaOf(2, 1), tilesOf(2, Array<number>(16).fill(3))]);
    expect(await decoder.refusal(alpha, AVIF)).toBe('image_too_large');
  });

  it('is rejected with decode_failed if a tile is damaged, which the decoder itself would leave green', async () => {
    const grid = gridItem({ width: 128, height: 64 }, { columns: 2, rows: 1 });
    const references = [tilesOf(1, [2, 3])];
    const whole = printAvif([grid, hidden(small), hidden(small)], references);
    expect(await decoder.refusal(whole, AVIF)).toBeUndefined();
    const cut = { ...hidden(small), data: small.data.subarray(0, -20) };
    const damaged = printAvif([grid, hidden(small), cut], references);
    expect(await decoder.refusal(damaged, AVIF)).toBe('decode_failed');
    const one = gridItem({ width: 64, height: 64 }, { columns: 1, rows: 1 });
    expect(await decoder.refusal(printAvif([one, cut], [tilesOf(1, [2])]), AVIF)).toBe(
      'decode_failed',
    );
  });

  it('is rejected with animated_not_supported if its image or alpha item holds several frames', async () => {
    const film = { ...small, data: Buffer.concat(Array<Buffer>(9).fill(small.data)) };
    const seen = printAvif([film], []);
    const alpha = printAvif([small, asAlpha(film)], [alphaOf(2, 1)]);
    for (const upload of [seen, alpha]) {
      expect(await decoder.refusal(upload, AVIF)).toBe('animated_not_supported');
    }
  });

  it('is rejected with unsupported_media_type if its alpha is a derived item or has alpha itself', async () => {
    const made = asAlpha({ type: 'iden', data: Buffer.alloc(0), properties: small.properties });
    const derived = printAvif([small, made, hidden(small)], [alphaOf(2, 1), tilesOf(2, [3])]);
    const alphas = [small, asAlpha(small), asAlpha(small)];
    const ofAlpha = printAvif(alphas, [alphaOf(2, 1), alphaOf(3, 2)]);
    for (const upload of [derived, ofAlpha]) {
      expect(await decoder.refusal(upload, AVIF)).toBe('unsupported_media_type');
    }
  });

  it('is rejected with decode_failed if its alpha does not declare a size', async () => {
    const [, ...properties] = small.properties;
    const upload = printAvif([small, asAlpha({ ...small, properties })], [alphaOf(2, 1)]);
    expect(await decoder.refusal(upload, AVIF)).toBe('decode_failed');
  });
});
