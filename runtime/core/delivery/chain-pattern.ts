/**
 * The grammar of transform chains as regular expressions, for validators without this code, such as the API server of a
 * cluster. Built from the tables that `parseChain` reads, in the syntax common to JavaScript and RE2. They match the
 * chain with a leading "/", so that every segment begins with one.
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

/** The syntax of each operation. A mode may only follow a resize. */
const written: Readonly<Record<Exclude<OperationName, 'mode'>, string>> = {
  resize: `resize/(${side}x${side}?|x${side})(/fit)?(/${oneOf(Object.keys(MODES))})?`,
  crop: `crop/${coordinate},${coordinate}(,${cropSide}){2}`,
  format: `format/${oneOf(Object.keys(FORMATS))}`,
  quality: `quality/${positive(QUALITY_MAX)}`,
  watermark: `watermark(:${bare(WATERMARK_ID)})?`,
  preset: `preset:${bare(RESOLUTION_PRESET_NAME_PATTERN)}`,
};

/** A prefix unique to each operation: `crop` without a number behind it is a mode. */
const beginnings: Readonly<Record<keyof typeof written, string>> = {
  resize: '/resize/',
  crop: '/crop/[0-9]',
  format: '/format/',
  quality: '/quality/',
  watermark: '/watermark',
  preset: '/preset:',
};

/** Matches a sequence of operations. */
export const SLASHED_CHAIN = `^(/${oneOf(Object.values(written))})+$`;

/** Matches a chain of this form that contains an operation twice. */
export const SLASHED_CHAIN_TWICE = Object.values(beginnings)
  .map((beginning) => `${beginning}.*${beginning}`)
  .join('|');

/** Matches a chain of this form that names a resolution preset. */
export const SLASHED_CHAIN_PRESET = beginnings.preset;

/** Matches 1 to `max`, without leading zeros. */
function positive(max: number): string {
  const digits = String(max);
  const rest = digits.length - 1;
  if (/^9+$/.test(digits)) return `[1-9]${anyDigits(0, rest)}`;
  const shorter = rest > 0 ? [`[1-9]${anyDigits(0, rest - 1)}`] : [];
  // Numbers with as many digits as `max`: equal up to one digit that is smaller.
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

/** A pattern for a whole text, made usable inside another pattern. */
function bare(pattern: RegExp): string {
  return pattern.source.replace(/^\^|\$$/g, '');
}
