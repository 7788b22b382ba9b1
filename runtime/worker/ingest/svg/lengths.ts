/**
 * Lengths of SVG and CSS in pixels of CSS, as all costs and sizes of a drawing are counted from them.
 * Spec: Limits, Uploads (SVG complexity).
 */

/** The renderer may take them for fewer, never for more. */
const UNIT_PIXELS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['px', 1],
  ['pt', 96 / 72],
  ['pc', 16],
  ['in', 96],
  ['cm', 96 / 2.54],
  ['mm', 96 / 25.4],
]);
/** Of the size of the letters around, as the renderer takes them. */
const FONT_SHARES: ReadonlyMap<string, number> = new Map([
  ['em', 1],
  ['rem', 1],
  ['ex', 0.5],
  ['ch', 0.5],
]);

/** What a length may go by, in pixels. */
type Around = { readonly font: number; readonly percent: number };

const NUMBER = String.raw`(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)([a-z%]*)`;
const LENGTH = new RegExp(String.raw`^\s*([+-]?)${NUMBER}`, 'i');
const LENGTHS = new RegExp(NUMBER, 'gi');

/**
 * The length that a text begins with, without its sign; `otherwise` for a percentage and for what is none. Letters
 * whose size is not known are larger than anything.
 */
export function lengthOf<T>(text: string | undefined, otherwise: T, font = Infinity): number | T {
  const [, , number = '', unit = '%'] = LENGTH.exec(text ?? '') ?? [];
  return inPixels(number, unit, { font, percent: Number.NaN }) ?? otherwise;
}

/** As far as the length that a text begins with is from zero, to either side; zero for what is none. */
export function placeOf(text: string | undefined, around: Around): number {
  const [, sign = '', number = '0', unit = ''] = LENGTH.exec(text ?? '') ?? [];
  const pixels = inPixels(number, unit, around) ?? 0;
  return sign === '-' ? -pixels : pixels;
}

/** As the renderer knows one; all else (`5.`, `1rem`, a hard space, mostly `1ch`) leaves what is around it. */
const ONE_LENGTH =
  /^[ \t\n\r\f]*\+?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?(?:px|pt|pc|in|cm|mm|em|ex|%)?[ \t\n\r\f]*$/i;

/** Of a text that is one length and nothing else, which nobody reads otherwise. */
export function plainLength(text: string | undefined, around: Around): number | undefined {
  const [length = Number.POSITIVE_INFINITY, ...more] = lengthsOf(text ?? '', around);
  const isPlain = more.length === 0 && length < Infinity && ONE_LENGTH.test(text ?? '');
  return isPlain ? length : undefined;
}

/** All that a text names; one of an unknown unit is infinite. */
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
  // Nothing of what is infinite is nothing.
  return Number(number) * times || 0;
}
