import { describe, expect, it } from 'vitest';
import { thumbHash } from '../../../../runtime/worker/ingest/thumb-hash.ts';

function picture(width: number, height: number, color: (x: number, y: number) => number[]) {
  const rgba = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rgba.set(color(x, y), (y * width + x) * 4);
  }
  return { width, height, rgba };
}

/** The mean color, decoded from the header as ThumbHash readers do. */
function meanOf(hash: Buffer): number[] {
  const head = hash.readUIntLE(0, 3);
  const l = (head & 63) / 63;
  const p = ((head >> 6) & 63) / 31.5 - 1;
  const q = ((head >> 12) & 63) / 31.5 - 1;
  const b = l - (2 / 3) * p;
  const r = (3 * l - b + q) / 2;
  return [r, r - q, b].map((value) => Math.round(value * 255));
}

describe('a ThumbHash', () => {
  it('begins with the mean color', () => {
    const mean = meanOf(thumbHash(picture(40, 30, () => [200, 100, 50, 255])));
    for (const [index, value] of [200, 100, 50].entries()) {
      expect(Math.abs((mean[index] ?? 0) - value)).toBeLessThanOrEqual(8);
    }
  });

  it('records whether the image is landscape and whether it is transparent', () => {
    const isLandscape = (hash: Buffer) => (hash.readUInt16LE(3) & 0x8000) !== 0;
    const hasAlpha = (hash: Buffer) => (hash.readUIntLE(0, 3) & 0x800000) !== 0;
    const shade = (x: number, y: number) => [x * 5, y * 5, 90, x > 10 ? 255 : 0];
    const lying = thumbHash(picture(40, 20, (x, y) => [...shade(x, y).slice(0, 3), 255]));
    const standing = thumbHash(picture(20, 40, shade));
    expect([isLandscape(lying), hasAlpha(lying)]).toEqual([true, false]);
    expect([isLandscape(standing), hasAlpha(standing)]).toEqual([false, true]);
  });

  it('is 5 to 40 bytes long for an image of any size', () => {
    for (const [width, height] of [
      [1, 1],
      [100, 1],
      [1, 100],
      [64, 64],
    ] as const) {
      const hash = thumbHash(picture(width, height, (x, y) => [x, y, x + y, 255 - x]));
      expect(hash.length).toBeGreaterThanOrEqual(5);
      expect(hash.length).toBeLessThanOrEqual(40);
    }
  });

  it('differs between images that are bright in different places', () => {
    const left = thumbHash(
      picture(30, 30, (x) => (x < 15 ? [255, 255, 255, 255] : [0, 0, 0, 255])),
    );
    const right = thumbHash(
      picture(30, 30, (x) => (x < 15 ? [0, 0, 0, 255] : [255, 255, 255, 255])),
    );
    expect(left.equals(right)).toBe(false);
  });
});
