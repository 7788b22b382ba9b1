// The output rules as exact geometry: which window of the oriented source is read, and the size of the output. Spec:
// Delivery host, Transform operations; Output rules 1 to 4.
import type { StoredType } from '../image/formats.ts';
import {
  LARGE_SOURCE_OUTPUT_PIXELS_MAX,
  LARGE_SOURCE_PIXELS_MIN,
  OUTPUT_AVIF_PIXELS_MAX,
  OUTPUT_PIXELS_MAX,
  OUTPUT_SIDE_PIXELS_MAX,
  TRANSFORM_AVIF_SOURCE_PIXELS_MAX,
  TRANSFORM_WEBP_LOSSLESS_ALPHA_SOURCE_PIXELS_MAX,
  TRANSFORM_WEBP_LOSSLESS_SOURCE_PIXELS_MAX,
  UPSCALE_AREA_FACTOR_MAX,
  UPSCALE_PIXELS_ALWAYS,
} from '../limits.ts';
import type { Box, ParsedChain } from './operations.ts';

/** Width and height in pixels. */
export type Size = { readonly width: number; readonly height: number };

/**
 * The facts about a published file, known since its ingest. The focal point is in fractions, 0..1.
 */
export type SourceFacts = Size & {
  readonly content_type: StoredType;
  readonly has_alpha: boolean;
  readonly is_lossless: boolean;
  readonly focal_x: number;
  readonly focal_y: number;
};

/** The formats of rendered images. */
export type OutputFormat = 'jpeg' | 'png' | 'webp' | 'avif' | 'gif';

/** The window is in whole pixels of the oriented source. */
export type Geometry = { readonly window: Box; readonly output: Size };

/**
 * The window that a chain reads and the size of its output; undefined when the output rules require
 * a 404.
 */
export function geometry(
  source: SourceFacts,
  chain: ParsedChain,
  format: OutputFormat,
): Geometry | undefined {
  if (!isTransformable(source)) return undefined;
  const region = clipCrop(source, chain.crop);
  if (region === undefined) return undefined;
  const requested = requestedSize(region, chain);
  if (area(requested) > enlargementLimit(source)) return undefined;
  return {
    window: window(source, region, chain),
    output: cap(requested, ratioOf(region, chain), outputPixelLimit(source, format)),
  };
}

/** Output rule 4: whether a source may be transformed. */
function isTransformable(source: SourceFacts): boolean {
  return area(source) <= transformLimit(source);
}

function transformLimit({ content_type, is_lossless, has_alpha }: SourceFacts): number {
  if (content_type === 'image/avif') return TRANSFORM_AVIF_SOURCE_PIXELS_MAX;
  if (content_type !== 'image/webp' || !is_lossless) return Number.POSITIVE_INFINITY;
  return has_alpha
    ? TRANSFORM_WEBP_LOSSLESS_ALPHA_SOURCE_PIXELS_MAX
    : TRANSFORM_WEBP_LOSSLESS_SOURCE_PIXELS_MAX;
}

// The part of the crop box inside the image; without a crop, the whole image.
function clipCrop(source: Size, crop: Box | undefined): Box | undefined {
  if (crop === undefined) return { x: 0, y: 0, width: source.width, height: source.height };
  const width = Math.min(crop.width, source.width - crop.x);
  const height = Math.min(crop.height, source.height - crop.y);
  return width > 0 && height > 0 ? { x: crop.x, y: crop.y, width, height } : undefined;
}

// The size before caps. A requested side is exact; the other one follows the region's ratio.
function requestedSize(region: Size, { resize, mode }: ParsedChain): Size {
  const { width, height } = resize ?? { width: null, height: null };
  if (width === null && height === null) return { width: region.width, height: region.height };
  if (height === null || (mode === 'fit' && width !== null && isWider(region, { width, height }))) {
    return followWidth(region, width ?? region.width);
  }
  if (width === null || mode === 'fit') return followHeight(region, height);
  return { width, height };
}

function followWidth(region: Size, width: number): Size {
  return { width, height: scale(region.height, width, region.width) };
}

function followHeight(region: Size, height: number): Size {
  return { width: scale(region.width, height, region.height), height };
}

// side × to / from, rounded half up, at least one pixel; exact, since all values stay below 2^53.
function scale(side: number, to: number, from: number): number {
  return Math.max(1, Math.floor((2 * side * to + from) / (2 * from)));
}

function isWider(one: Size, other: Size): boolean {
  return one.width * other.height > other.width * one.height;
}

// Output rule 3, applied to the size before caps.
function enlargementLimit(source: Size): number {
  return Math.max(UPSCALE_AREA_FACTOR_MAX * area(source), UPSCALE_PIXELS_ALWAYS);
}

// Only a covered box reads less than the region.
function window(source: SourceFacts, region: Box, chain: ParsedChain): Box {
  const box = coveredBox(chain);
  if (box === undefined) return region;
  const size = coveringSize(region, box);
  if (chain.mode !== 'smart') return place(region, size, center(region));
  const focus = { x: source.focal_x * source.width, y: source.focal_y * source.height };
  return place(region, size, focus);
}

function coveredBox({ resize, mode }: ParsedChain): Size | undefined {
  if (resize?.width == null || resize.height === null || mode === 'fit') return undefined;
  return { width: resize.width, height: resize.height };
}

// The exact ratio of the output, before any rounding.
function ratioOf(region: Box, chain: ParsedChain): Size {
  return coveredBox(chain) ?? region;
}

// The largest part of the region that has the box's ratio.
function coveringSize(region: Size, box: Size): Size {
  if (isWider(region, box)) {
    const width = Math.min(region.width, scale(box.width, region.height, box.height));
    return { width, height: region.height };
  }
  const height = Math.min(region.height, scale(box.height, region.width, box.width));
  return { width: region.width, height };
}

function center(region: Box): { x: number; y: number } {
  return { x: region.x + region.width / 2, y: region.y + region.height / 2 };
}

// Centered on the point, then moved inside the region.
function place(region: Box, size: Size, point: { x: number; y: number }): Box {
  const x = Math.floor(point.x - size.width / 2);
  const y = Math.floor(point.y - size.height / 2);
  return {
    x: clamp(x, region.x, region.x + region.width - size.width),
    y: clamp(y, region.y, region.y + region.height - size.height),
    width: size.width,
    height: size.height,
  };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}

function outputPixelLimit(source: SourceFacts, format: OutputFormat): number {
  const ofFormat = format === 'avif' ? OUTPUT_AVIF_PIXELS_MAX : OUTPUT_PIXELS_MAX;
  const isSlow = source.content_type === 'image/avif' || source.content_type === 'image/webp';
  const isLarge = isSlow && area(source) > LARGE_SOURCE_PIXELS_MIN;
  return isLarge ? Math.min(ofFormat, LARGE_SOURCE_OUTPUT_PIXELS_MAX) : ofFormat;
}

// Output rules 1 and 2: one factor for both sides, rounded down. It is computed from the exact
// ratio, not from the rounded size, so that no side is off by more than a pixel.
function cap(size: Size, ratio: Size, pixels: number): Size {
  const bounds = [size];
  if (Math.max(size.width, size.height) > OUTPUT_SIDE_PIXELS_MAX) bounds.push(boundSides(ratio));
  if (area(size) > pixels) bounds.push(boundArea(ratio, pixels));
  return {
    width: Math.max(1, Math.min(...bounds.map(({ width }) => width))),
    height: Math.max(1, Math.min(...bounds.map(({ height }) => height))),
  };
}

function boundSides(ratio: Size): Size {
  const longest = Math.max(ratio.width, ratio.height);
  return {
    width: Math.floor((OUTPUT_SIDE_PIXELS_MAX * ratio.width) / longest),
    height: Math.floor((OUTPUT_SIDE_PIXELS_MAX * ratio.height) / longest),
  };
}

function boundArea({ width, height }: Size, pixels: number): Size {
  return {
    width: floorRoot(pixels, width, height),
    height: floorRoot(pixels, height, width),
  };
}

// floor(sqrt(pixels × side / other)): the largest n with n² × other ≤ pixels × side. A
// floating-point root may be off by one, so integers decide.
function floorRoot(pixels: number, side: number, other: number): number {
  const estimate = Math.floor(Math.sqrt((pixels * side) / other));
  const isWithin = (n: number) => BigInt(n) ** 2n * BigInt(other) <= BigInt(pixels) * BigInt(side);
  return [estimate + 1, estimate].find(isWithin) ?? estimate - 1;
}

function area({ width, height }: Size): number {
  return width * height;
}
