/**
 * The grammar of transform chains as regular expressions, for whoever judges a chain without this code, such as the API
 * server of a cluster. They are made from the tables that `parseChain` reads, in what JavaScript and RE2 both understand,
 * and for the chain with a "/" before it: then every segment begins with one.
 */
import {
  CROP_COORDINATE_PX_MAX,
  QUALITY_MAX,
  RESIZE_SIDE_PIXELS_MAX,
  RESOLUTION_PRESET_NAME_PATTERN,
} from '../limits.ts';
import { FORMATS, MODES, type OperationName, WATERMARK_ID } from './operations.ts';

const side = positive(RESIZE_SIDE_PIXELS_MAX);
const cropSide = positive(CROP_COORDINATE_PX_MAX);
const coordinate = `(0|${cropSide})`;

/** The operations as they are written. A mode stands only behind a resize. */
const written: Readonly<Record<Exclude<OperationName, 'mode'>, string>> = {
  resize: `resize/(${side}x${side}?|x${side})(/fit)?(/${oneOf(Object.keys(MODES))})?`,
  crop: `crop/${coordinate},${coordinate}(,${cropSide}){2}`,
  format: `format/${oneOf(Object.keys(FORMATS))}`,
  quality: `quality/${positive(QUALITY_MAX)}`,
  watermark: `watermark(:${bare(WATERMARK_ID)})?`,
  preset: `preset:${bare(RESOLUTION_PRESET_NAME_PATTERN)}`,
};

/** What an operation begins with and nothing else does: `crop` without a number behind it is a mode. */
const beginnings: Readonly<Record<keyof typeof written, string>> = {
  resize: '/resize/',
  crop: '/crop/[0-9]',
  format: '/format/',
  quality: '/quality/',
  watermark: '/watermark',
  preset: '/preset:',
};

/** Operations one after the other. */
export const SLASHED_CHAIN = `^(/${oneOf(Object.values(written))})+$`;

/** Of a chain of the form above: one that has an operation twice. */
export const SLASHED_CHAIN_TWICE = Object.values(beginnings)
  .map((beginning) => `${beginning}.*${beginning}`)
  .join('|');

/** Of a chain of the form above: one that names a resolution preset. */
export const SLASHED_CHAIN_PRESET = beginnings.preset;

/** 1 to `max`, in the one spelling that a number has. */
function positive(max: number): string {
  const digits = String(max);
  const rest = digits.length - 1;
  if (/^9+$/.test(digits)) return `[1-9]${anyDigits(0, rest)}`;
  const shorter = rest > 0 ? [`[1-9]${anyDigits(0, rest - 1)}`] : [];
  // As long as `max`, the same up to one digit that is less.
  const less = [...digits].flatMap((digit, at) => {
    const [from, to] = [at === 0 ? 1 : 0, Number(digit) - 1];
    if (to < from) return [];
    const lesser = from === to ? to : `[${from}-${to}]`;
    return [`${digits.slice(0, at)}${lesser}${anyDigits(rest - at, rest - at)}`];
  });
  return oneOf([...shorter, ...less, digits]);
}

function anyDigits(min: number, max: number): string {
  if (max === 0) return '';
  return `[0-9]{${min === max ? max : `${min},${max}`}}`;
}

function oneOf(patterns: readonly string[]): string {
  return `(${patterns.join('|')})`;
}

/** A pattern of a whole text, for a part of one. */
function bare(pattern: RegExp): string {
  return pattern.source.replace(/^\^|\$$/g, '');
}
