/**
 * Colors that a file describes by a few numbers instead of a profile: the code points of ITU-T H.273 (AVIF's `nclx`,
 * PNG's `cICP`), or a gamma and chromaticities (PNG's `gAMA` and `cHRM`). Spec: What the service does.
 */

type Point = readonly [x: number, y: number];
export type Chromaticities = { white: Point; red: Point; green: Point; blue: Point };
/** How encoded values become light: a power, or one of the named curves. */
export type Transfer = number | 'srgb' | 'pq' | 'hlg';
export type ColorDescription = { primaries: Chromaticities; transfer: Transfer };

/** The white of ICC profiles. */
export const D50 = [0.9642, 1, 0.82491] as const;
const D65: Point = [0.3127, 0.329];
export const srgbPrimaries: Chromaticities = {
  white: D65,
  red: [0.64, 0.33],
  green: [0.3, 0.6],
  blue: [0.15, 0.06],
};
const NTSC = { white: D65, red: [0.63, 0.34], green: [0.31, 0.595], blue: [0.155, 0.07] } as const;
const P3 = { red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06] } as const;

/** Codes not listed are unknown or not used by any image, and count as sRGB. */
const primariesByCode: Readonly<Record<number, Chromaticities>> = {
  5: { white: D65, red: [0.64, 0.33], green: [0.29, 0.6], blue: [0.15, 0.06] },
  6: NTSC,
  7: NTSC,
  9: { white: D65, red: [0.708, 0.292], green: [0.17, 0.797], blue: [0.131, 0.046] },
  11: { white: [0.314, 0.351], ...P3 },
  12: { white: D65, ...P3 },
};
/** Television curves are displayed as sRGB, as in browsers. */
const transfersByCode: Readonly<Record<number, Transfer>> = {
  4: 2.2,
  5: 2.8,
  8: 1,
  16: 'pq',
  18: 'hlg',
};

const POINT_TOLERANCE = 0.003;
const TONE_TOLERANCE = 0.006;
const SRGB_HALF = 0.214;

export function describeCodes(primaries: number, transfer: number): ColorDescription {
  return {
    primaries: primariesByCode[primaries] ?? srgbPrimaries,
    transfer: transfersByCode[transfer] ?? 'srgb',
  };
}

/** Close enough to sRGB that the pixels stay unchanged. */
export function isSrgb({ primaries, transfer }: ColorDescription): boolean {
  const isOfTone =
    transfer === 'srgb' || (typeof transfer === 'number' && isSrgbTone(0.5 ** transfer));
  const names = ['white', 'red', 'green', 'blue'] as const;
  return isOfTone && names.every((name) => isNear(primaries[name], srgbPrimaries[name]));
}

/** Judged by the linear light of the encoded value one half. */
export function isSrgbTone(half: number): boolean {
  return Math.abs(half - SRGB_HALF) <= TONE_TOLERANCE;
}

function isNear([x, y]: Point, [otherX, otherY]: Point): boolean {
  return Math.max(Math.abs(x - otherX), Math.abs(y - otherY)) <= POINT_TOLERANCE;
}
