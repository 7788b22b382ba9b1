/**
 * A second implementation of the output rules, written from their text alone and with exact fractions, to verify
 * `runtime/core/delivery/geometry.ts`. It must not import from `runtime/`. Spec: Delivery host, Transform operations;
 * Output rules 1 to 4.
 */

/** A source as in geometry.json: `webp lossless alpha 4000x3000 focus 1/4,3/4`. */
export type Source = {
  type: string;
  is_lossless: boolean;
  has_alpha: boolean;
  width: bigint;
  height: bigint;
  focus: readonly [Fraction, Fraction];
};

/** `top / bottom`, with a positive `bottom`. */
export type Fraction = { top: bigint; bottom: bigint };

type Sides = { width: Fraction; height: Fraction };
type Region = { x: bigint; y: bigint; width: bigint; height: bigint };
type Asked = {
  width?: bigint | undefined;
  height?: bigint | undefined;
  mode: string;
  format?: string | undefined;
  crop?: readonly bigint[] | undefined;
};

/** Returns the window and the output size, as in `3000x3000+500+0 → 500x500`, or `404`. */
export function judge(sourceText: string, chain: string): string {
  const source = readSource(sourceText);
  const asked = readChain(chain);
  if (isTooSlowToTransform(source)) return '404';
  const region = clipped(source, asked);
  if (region === undefined) return '404';
  const exact = exactSides(region, asked);
  const requested = { width: roundedSide(exact.width), height: roundedSide(exact.height) };
  if (enlargesTooMuch(source, requested)) return '404';
  const output = capped(exact, requested, pixelCap(source, asked));
  const w = windowOf(source, region, asked);
  return `${w.width}x${w.height}+${w.x}+${w.y} → ${output.width}x${output.height}`;
}

export function readSource(text: string): Source {
  const size = /(\d+)x(\d+)/.exec(text);
  const focus = /focus (\d+)\/(\d+),(\d+)\/(\d+)/.exec(text) ?? ['', '1', '2', '1', '2'];
  const [, left = '', right = '', up = '', down = ''] = focus;
  return {
    type: text.split(' ')[0] ?? '',
    is_lossless: text.includes(' lossless'),
    has_alpha: text.includes(' alpha'),
    width: BigInt(size?.[1] ?? 0),
    height: BigInt(size?.[2] ?? 0),
    focus: [fraction(BigInt(left), BigInt(right)), fraction(BigInt(up), BigInt(down))],
  };
}

// Parses only well-formed chains, which all rows of the table have.
function readChain(chain: string): Asked {
  const resize = /resize\/(\d*)x(\d*)(?:\/(?:fit\/)?(fill|crop|smart|fit)(?![/]\d))?/.exec(chain);
  const mode = resize?.[3] === undefined || resize[3] === 'crop' ? 'fill' : resize[3];
  return {
    width: resize?.[1] ? BigInt(resize[1]) : undefined,
    height: resize?.[2] ? BigInt(resize[2]) : undefined,
    mode,
    format: /format\/(\w+)/.exec(chain)?.[1],
    crop: /crop\/([\d,]+)/.exec(chain)?.[1]?.split(',').map(BigInt),
  };
}

// Rule 4: "avif sources above about 15 megapixels, and lossless webp sources above about 22.5 to 25
// megapixels, cannot be transformed": 22.5 with alpha, 25 without.
function isTooSlowToTransform({ type, is_lossless, has_alpha, width, height }: Source): boolean {
  const tenths = width * height * 10n;
  if (type === 'avif') return tenths > 150_000_000n;
  return type === 'webp' && is_lossless && tenths > (has_alpha ? 225_000_000n : 250_000_000n);
}

// "The crop box is clipped to the oriented image; empty after clipping: 404."
function clipped(source: Source, { crop }: Asked): Region | undefined {
  const [x = 0n, y = 0n, width = source.width, height = source.height] = crop ?? [];
  const right = lesser(x + width, source.width);
  const bottom = lesser(y + height, source.height);
  if (right <= x || bottom <= y) return undefined;
  return { x, y, width: right - x, height: bottom - y };
}

// "One side may be empty (keeps aspect ratio)"; "fit fits inside the box": the smaller of the two
// ratios scales; fill and smart cover the box exactly.
function exactSides(region: Region, { width, height, mode }: Asked): Sides {
  const across = width === undefined ? undefined : fraction(width, region.width);
  const down = height === undefined ? undefined : fraction(height, region.height);
  if (across !== undefined && down !== undefined && mode !== 'fit') {
    return { width: times(across, region.width), height: times(down, region.height) };
  }
  const ratios = [across, down].filter((ratio) => ratio !== undefined);
  const ratio = ratios.reduce((a, b) => (isLess(b, a) ? b : a), ratios[0] ?? fraction(1n, 1n));
  return { width: times(ratio, region.width), height: times(ratio, region.height) };
}

// "The other max(1, floor(x + 0.5))"
function roundedSide({ top, bottom }: Fraction): bigint {
  const rounded = (2n * top + bottom) / (2n * bottom);
  return rounded < 1n ? 1n : rounded;
}

// Rule 3: "16 times the source area (or 2048x2048, whichever is larger)", on the size before caps.
function enlargesTooMuch(source: Source, { width, height }: { width: bigint; height: bigint }) {
  const pixels = width * height;
  return pixels > 16n * source.width * source.height && pixels > 2048n * 2048n;
}

// Rule 2 for the format that comes out, and the end of rule 4 for large avif and webp sources.
function pixelCap({ type, width, height }: Source, { format }: Asked): bigint {
  const ofFormat = (format ?? type) === 'avif' ? 12_000_000n : 4096n * 4096n;
  const isVeryLarge = (type === 'avif' || type === 'webp') && width * height > 12_000_000n;
  return isVeryLarge ? lesser(ofFormat, 4_194_304n) : ofFormat;
}

// Rules 1 and 2: "scaled down keeping its aspect ratio": one factor for both sides, rounded down. A
// factor is kept as its square, because the factor to an area is a root.
function capped(
  exact: Sides,
  requested: { width: bigint; height: bigint },
  pixels: bigint,
): { width: bigint; height: bigint } {
  const squares: Fraction[] = [];
  const longest = isLess(exact.width, exact.height) ? exact.height : exact.width;
  if (requested.width > 8192n || requested.height > 8192n) {
    const factor = over(fraction(8192n, 1n), longest);
    squares.push(multiply(factor, factor));
  }
  if (requested.width * requested.height > pixels) {
    squares.push(over(fraction(pixels, 1n), multiply(exact.width, exact.height)));
  }
  if (squares.length === 0) return requested;
  const square = squares.reduce((one, other) => (isLess(one, other) ? one : other));
  return {
    width: scaledDown(exact.width, square, requested.width),
    height: scaledDown(exact.height, square, requested.height),
  };
}

// floor(side × √square), between 1 and the requested size. Found by binary search.
function scaledDown(side: Fraction, square: Fraction, requested: bigint): bigint {
  const target = multiply(multiply(side, side), square);
  let low = 1n;
  let high = requested;
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (isLess(target, fraction(middle * middle, 1n))) high = middle - 1n;
    else low = middle;
  }
  return low;
}

// "fill covers it and crops the center", "smart … the window centered on it and clamped": the largest
// part with the ratio of the box. Everything else reads the whole region.
function windowOf(source: Source, region: Region, { width, height, mode }: Asked): Region {
  if (width === undefined || height === undefined || mode === 'fit') return region;
  const w = lesser(region.width, roundedSide(fraction(width * region.height, height)));
  const h = lesser(region.height, roundedSide(fraction(height * region.width, width)));
  const [left, up] = mode === 'smart' ? smartPoint(source) : center(region);
  return {
    x: placed(left, w, [region.x, region.x + region.width - w]),
    y: placed(up, h, [region.y, region.y + region.height - h]),
    width: w,
    height: h,
  };
}

function center({ x, y, width, height }: Region): [Fraction, Fraction] {
  return [fraction(2n * x + width, 2n), fraction(2n * y + height, 2n)];
}

function smartPoint({ focus, width, height }: Source): [Fraction, Fraction] {
  return [times(focus[0], width), times(focus[1], height)];
}

// Centers the window on the point, rounded to the left or up, then moves it inside the region.
function placed({ top, bottom }: Fraction, side: bigint, [min, max]: [bigint, bigint]): bigint {
  const doubled = 2n * top - side * bottom;
  const start = doubled < 0n ? min : doubled / (2n * bottom);
  return start < min ? min : lesser(start, max);
}

function fraction(top: bigint, bottom: bigint): Fraction {
  return { top, bottom };
}

function times({ top, bottom }: Fraction, factor: bigint): Fraction {
  return { top: top * factor, bottom };
}

function multiply(one: Fraction, other: Fraction): Fraction {
  return { top: one.top * other.top, bottom: one.bottom * other.bottom };
}

function over(one: Fraction, other: Fraction): Fraction {
  return { top: one.top * other.bottom, bottom: one.bottom * other.top };
}

function isLess(one: Fraction, other: Fraction): boolean {
  return one.top * other.bottom < other.top * one.bottom;
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
