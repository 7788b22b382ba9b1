/**
 * Whether an ICC profile is sRGB under any of its many names, judged by its primaries and its tone curve, so that
 * pixels already in sRGB are never converted again.
 */
import { isSrgbTone } from '../colors/color-description.ts';
import { type IccTags, readIccHead, readIccTags } from './icc-tags.ts';

export type IccVerdict = 'srgb' | 'other' | 'broken';

const PRIMARY_TOLERANCE = 0.002;
/** Relative to D50, as a profile stores them. */
const primaries = {
  rXYZ: [0.4361, 0.2225, 0.0139],
  gXYZ: [0.3851, 0.7169, 0.0971],
  bXYZ: [0.1431, 0.0606, 0.7141],
} as const;

/** Also `broken` when the profile describes another kind of pixels. */
export function judgeIccProfile(profile: Buffer, space: keyof typeof spaceNames): IccVerdict {
  const head = readIccHead(profile);
  if (head?.color_space !== spaceNames[space]) return 'broken';
  if (space !== 'rgb') return 'other';
  try {
    const tags = readIccTags(profile);
    return hasSrgbPrimaries(tags) && hasSrgbTone(tags) ? 'srgb' : 'other';
  } catch (error) {
    if (error instanceof RangeError) return 'broken';
    throw error;
  }
}

const spaceNames = { grey: 'GRAY', rgb: 'RGB ', cmyk: 'CMYK' } as const;

function hasSrgbPrimaries(tags: IccTags): boolean {
  return Object.entries(primaries).every(([name, expected]) => {
    const tag = tags.get(name);
    return (
      tag !== undefined &&
      expected.every((value, index) => {
        const actual = tag.readInt32BE(8 + index * 4) / 65_536;
        return Math.abs(actual - value) <= PRIMARY_TOLERANCE;
      })
    );
  });
}

function hasSrgbTone(tags: IccTags): boolean {
  return ['rTRC', 'gTRC', 'bTRC'].every((name) => {
    const tag = tags.get(name);
    return tag !== undefined && isSrgbTone(toneAtHalf(tag));
  });
}

function toneAtHalf(tag: Buffer): number {
  const type = tag.toString('latin1', 0, 4);
  if (type === 'curv') return curveAtHalf(tag);
  if (type === 'para') return parametricAtHalf(tag);
  return Number.NaN;
}

function curveAtHalf(tag: Buffer): number {
  const count = tag.readUInt32BE(8);
  if (count === 0) return 0.5;
  if (count === 1) return 0.5 ** (tag.readUInt16BE(12) / 256);
  return tag.readUInt16BE(12 + Math.round((count - 1) / 2) * 2) / 65_535;
}

/** One half lies above every sensible linear segment, so only the power segment matters. */
function parametricAtHalf(tag: Buffer): number {
  const kind = tag.readUInt16BE(8);
  const parameter = (index: number) => tag.readInt32BE(12 + index * 4) / 65_536;
  if (kind === 0) return 0.5 ** parameter(0);
  const offset = kind === 4 ? parameter(5) : 0;
  return (parameter(1) * 0.5 + parameter(2)) ** parameter(0) + offset;
}
