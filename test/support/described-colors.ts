/** Colors in other color spaces, with their sRGB values by the matrices of CSS Color 4. */
import sharp from 'sharp';
import { expect } from 'vitest';

export type Color = readonly [number, number, number];
export const MUTED: readonly Color[] = [
  [150, 120, 100],
  [90, 110, 130],
  [200, 190, 170],
  [128, 128, 128],
];
export const SIDE = 16;

export function flat([r, g, b]: Color): Promise<Buffer> {
  const background = { r, g, b };
  return sharp({ create: { width: SIDE, height: SIDE, channels: 3, background } })
    .png()
    .toBuffer();
}

export const colorOf = async (bytes: Buffer): Promise<number[]> => {
  const middle = { left: 8, top: 8, width: 1, height: 1 };
  const pixel = sharp(bytes).removeAlpha().toColourspace('srgb').extract(middle);
  return [...(await pixel.raw().toBuffer())];
};

export const decode = (value: number) =>
  value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
export const encode = (light: number) =>
  light <= 0.003_130_8 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055;

/** Rows of the matrices to linear sRGB. */
export const SAME = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
export const FROM_P3 = [
  [1.2249401, -0.2249402, 0],
  [-0.0420569, 1.0420571, 0],
  [-0.0196376, -0.0786361, 1.0982735],
];
export const FROM_2020 = [
  [1.6605, -0.5876, -0.0728],
  [-0.1246, 1.1329, -0.0083],
  [-0.0182, -0.1006, 1.1187],
];

export function expected(color: Color, matrix: readonly number[][], light = decode): number[] {
  const [r, g, b] = color.map((value) => light(value / 255)) as [number, number, number];
  return matrix.map(([x = 0, y = 0, z = 0]) =>
    Math.round(255 * encode(Math.min(Math.max(x * r + y * g + z * b, 0), 1))),
  );
}

export function expectNear(seen: readonly number[], wanted: readonly number[], slack = 3): void {
  for (const [channel, value] of wanted.entries()) {
    expect(Math.abs((seen[channel] ?? 0) - value), `${seen} for ${wanted}`).toBeLessThanOrEqual(
      slack,
    );
  }
}
