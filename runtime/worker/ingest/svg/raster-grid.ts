/**
 * The size of an SVG, and the pixel grid on which it is drawn once for all transforms. Spec: Limits, Uploads (long edge
 * at least 2048 px, up to 2048 x 2048 area).
 */
import {
  SVG_RASTER_LONG_EDGE_MAX,
  SVG_RASTER_LONG_EDGE_MIN,
  SVG_RASTER_PIXELS_MAX,
} from '../../../core/limits.ts';
import { IngestRefusal } from '../ingest-refusal.ts';
import { lengthOf } from './lengths.ts';
import type { SvgNode } from './svg-node.ts';

export type SvgSize = { readonly width: number; readonly height: number };

/**
 * In CSS pixels, from width and height, otherwise from the viewBox. Throws IngestRefusal when there
 * is neither.
 */
export function naturalSize(root: SvgNode): SvgSize {
  const box = viewBoxOf(root);
  const width = pixels(root.attributes.get('width'));
  const height = pixels(root.attributes.get('height'));
  if (width !== undefined && height !== undefined) return checked({ width, height });
  if (box === undefined) throw new IngestRefusal('decode_failed', 'no size and no viewBox');
  const ratio = box.width / box.height;
  if (width !== undefined) return checked({ width, height: width / ratio });
  if (height !== undefined) return checked({ width: height * ratio, height });
  return checked(box);
}

/** The size enlarged until the long edge suffices, and reduced if the area would be too large. */
export function rasterGrid({ width, height }: SvgSize): SvgSize {
  const long = Math.max(width, height);
  const enlarged = Math.max(1, SVG_RASTER_LONG_EDGE_MIN / long);
  const byArea = Math.sqrt(SVG_RASTER_PIXELS_MAX / (width * height));
  const scale = Math.min(enlarged, byArea, SVG_RASTER_LONG_EDGE_MAX / long);
  // Whole sides, rounded down, so that the area stays within its limit.
  const longSide = Math.floor(long * scale + 1e-6);
  const shortSide = Math.max(1, Math.floor(Math.min(width, height) * scale + 1e-6));
  return width >= height
    ? { width: longSide, height: shortSide }
    : { width: shortSide, height: longSide };
}

/** Pixels per inch for drawing, as in browsers: millimetres and points depend on it. */
export const DRAWING_DENSITY = 96;
/** The renderer's size of one pixel: it assumes 72 pixels per inch. */
const DRAWN_PIXEL = 72 / DRAWING_DENSITY;

/** The same drawing with the grid as its size, and the initial font size of browsers. */
export function onGrid(root: SvgNode, size: SvgSize, grid: SvgSize): SvgNode {
  const attributes = new Map([['font-size', `${FONT_PIXELS}`], ...root.attributes]);
  if (viewBoxOf(root) === undefined) attributes.set('viewBox', `0 0 ${size.width} ${size.height}`);
  attributes.set('width', `${grid.width * DRAWN_PIXEL}`);
  attributes.set('height', `${grid.height * DRAWN_PIXEL}`);
  return { ...root, attributes };
}

/** Undefined when it is missing or invalid. */
export function viewBoxOf({ attributes }: SvgNode): SvgSize | undefined {
  const text = attributes.get('viewBox');
  if (text === undefined) return undefined;
  const numbers = text
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const [, , width = 0, height = 0] = numbers;
  const isSound = numbers.length === 4 && numbers.every(Number.isFinite) && width > 0 && height > 0;
  return isSound ? { width, height } : undefined;
}

const LENGTH_CHARACTERS_MAX = 40;
const LENGTH = /^\s*\+?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[a-z]*\s*$/i;
/** The initial font size around a picture. */
const FONT_PIXELS = 16;

/**
 * Undefined for a percentage, which depends on where the picture is shown, and for anything but a
 * length.
 */
function pixels(length: string | undefined): number | undefined {
  if (length === undefined || length.length > LENGTH_CHARACTERS_MAX) return undefined;
  return LENGTH.test(length) ? lengthOf(length, undefined, FONT_PIXELS) : undefined;
}

const SIDE_MIN = 1e-3;
const SIDE_MAX = 1e7;

function checked(size: SvgSize): SvgSize {
  const isSound = [size.width, size.height].every((side) => side >= SIDE_MIN && side <= SIDE_MAX);
  if (!isSound) throw new IngestRefusal('decode_failed', `${size.width}x${size.height}`);
  return size;
}
