/**
 * Lengths of SVG and CSS in CSS pixels, the unit for all costs and sizes of a drawing. Spec: Limits, Uploads (SVG
 * complexity).
 */

/** Upper bounds: the renderer may use fewer pixels, never more. */
const UNIT_PIXELS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['px', 1],
  ['pt', 96 / 72],
  ['pc', 16],
  ['in', 96],
  ['cm', 96 / 2.54],
  ['mm', 96 / 25.4],
]);
/** Relative to the surrounding font size, as in the renderer. */
const FONT_SHARES: ReadonlyMap<string, number> = new Map([
  ['em', 1],
  ['rem', 1],
  ['ex', 0.5],
  ['ch', 0.5],
]);

/** The bases of relative lengths, in pixels. */
type Around = { readonly font: number; readonly percent: number };

const NUMBER = String.raw`(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)([a-z%]*)`;
const LENGTH = new RegExp(String.raw`^\s*([+-]?)${NUMBER}`, 'i');
const LENGTHS = new RegExp(NUMBER, 'gi');

/**
 * The length at the beginning of a text, without its sign; `otherwise` for a percentage or when
 * there is none. An unknown font size counts as infinite.
 */
export function lengthOf<T>(text: string | undefined, otherwise: T, font = Infinity): number | T {
  const [, , number = '', unit = '%'] = LENGTH.exec(text ?? '') ?? [];
  return inPixels(number, unit, { font, percent: Number.NaN }) ?? otherwise;
}

/**
 * The distance from zero, in either direction, of the length at the beginning of a text; 0 when
 * there is none.
 */
export function placeOf(text: string | undefined, around: Around): number {
  const [, sign = '', number = '0', unit = ''] = LENGTH.exec(text ?? '') ?? [];
  const pixels = inPixels(number, unit, around) ?? 0;
  return sign === '-' ? -pixels : pixels;
}

/**
 * A length that the renderer accepts; anything else (`5.`, `1rem`, a no-break space, mostly `1ch`)
 * keeps the inherited value.
 */
const ONE_LENGTH =
  /^[ \t\n\r\f]*\+?((?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?)(px|pt|pc|in|cm|mm|em|ex|%)?[ \t\n\r\f]*$/i;

/** The value of a text that is exactly one length and has no other reading; otherwise undefined. */
export function plainLength(text: string | undefined, around: Around): number | undefined {
  const [, number, unit = ''] = ONE_LENGTH.exec(text ?? '') ?? [];
  const length = number === undefined ? undefined : inPixels(number, unit, around);
  return length === Infinity ? undefined : length;
}

/** All lengths in a text; one with an unknown unit is infinite. */
export function lengthsOf(text: string, around: Around): number[] {
  return [...text.matchAll(LENGTHS)].map(
    ([, number = '', unit = '']) => inPixels(number, unit, around) ?? Number.POSITIVE_INFINITY,
  );
}

function inPixels(number: string, written: string, { font, percent }: Around): number | undefined {
  const unit = written.toLowerCase();
  const share = FONT_SHARES.get(unit);
  const fixed = unit === '%' ? percent : UNIT_PIXELS.get(unit);
  const times = share === undefined ? fixed : share * font;
  if (times === undefined || Number.isNaN(times)) return undefined;
  // Zero times infinity counts as zero.
  return Number(number) * times || 0;
}
