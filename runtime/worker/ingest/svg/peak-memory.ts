/**
 * The peak memory for drawing an SVG, computed without drawing it: librsvg makes an image of the whole grid for each
 * layer and for each named result of a filter, a tile for each pattern, and an outline of each stroke. Measured, and
 * rounded up. Spec: Limits, Uploads (SVG complexity).
 */
import { SVG_RASTER_LONG_EDGE_MAX } from '../../../core/limits.ts';
import { type Drawing, inheritedAttribute, type Reference } from './drawing.ts';
import { lengthOf } from './lengths.ts';
import { penBytes, roundEdges } from './pen.ts';
import type { SvgSize } from './raster-grid.ts';
import { viewportBounds } from './relative-units.ts';
import type { ShapeCost, ShapePlace } from './shape-cost.ts';
import type { Declaration } from './style.ts';
import { childElements, type SvgNode } from './svg-node.ts';
import { transformScale } from './transforms.ts';

/** Summed up from the shapes to the whole image: the most that one of them needs. */
export type Peak = {
  /** Grid-sized images at the same time, not counting the one drawn on. */
  grids: number;
  /** Bytes of the outline of a stroke or an area. */
  outline_bytes: number;
  /** Edges of the outline per line or dash. */
  edges: number;
  /** The length of the longest shape, in the unit of its dashes. */
  length: number;
  /** Pixels of the longer side of the largest shape, and pixels per unit of it. */
  span: number;
  scale: number;
};

const noPeak: Readonly<Peak> = {
  grids: 0,
  outline_bytes: 0,
  edges: 0,
  length: 0,
  span: 0,
  scale: 0,
};

const PIXEL_BYTES = 4;

/** A value that is not finite counts as more memory than anybody has. */
export function peakBytes({ grids, outline_bytes }: Peak, { width, height }: SvgSize): number {
  const bytes = grids * width * height * PIXEL_BYTES + outline_bytes;
  return Number.isFinite(bytes) ? bytes : Number.MAX_SAFE_INTEGER;
}

/** For shapes drawn one after the other: the next one reuses the memory of the previous one. */
export function joinPeaks(one: Peak, other: Peak): void {
  one.grids = Math.max(one.grids, other.grids);
  one.outline_bytes = Math.max(one.outline_bytes, other.outline_bytes);
  one.edges = Math.max(one.edges, other.edges);
  one.length = Math.max(one.length, other.length);
  one.span = Math.max(one.span, other.span);
  one.scale = Math.max(one.scale, other.scale);
}

/** The memory of a paint or a marker adds to the layers in which it is used. */
export function addPaint(peak: Peak, paint: { tile: number; peak: Peak }): void {
  peak.grids += paint.tile + paint.peak.grids;
  peak.outline_bytes = Math.max(peak.outline_bytes, paint.peak.outline_bytes);
}

/** A tile that is not opaque needs a second one. */
const TILES = 2;

type Painted = { readonly peak: Peak; readonly font: number };

/** The size of a pattern's tile in grids; it may exceed the image. */
export function tileGrids(drawing: Drawing, pattern: SvgNode, { peak, font }: Painted): number {
  if (pattern.name !== 'pattern') return 0;
  const { span, scale } = peak;
  const said = (name: string) => inheritedAttribute(drawing, pattern, name);
  const isAbsolute = said('patternUnits') === 'userSpaceOnUse';
  const side = (text: string | undefined) => {
    if (isAbsolute) {
      const units =
        lengthOf(text, undefined, font) ?? percentOf(text) * viewportBounds(drawing).most;
      // No scale, and no percentage, makes nothing of what has no bound.
      return units * scale || 0;
    }
    return (lengthOf(text, 0, font) || percentOf(text)) * span;
  };
  const times = transformScale(said('patternTransform') ?? '');
  const { width, height } = drawing.grid;
  const pixels = side(said('width')) * side(said('height')) * times ** 2;
  return (TILES * pixels) / (width * height);
}

function percentOf(text: string | undefined): number {
  return text?.includes('%') ? Math.abs(Number.parseFloat(text)) / 100 || 0 : 0;
}

/** The mask's image, what it lets through, and the result of both. */
const MASK_GRIDS = 2;
/** The input, the output and the intermediate images of a filter. */
const FILTER_GRIDS = 8;

type Layered = { references: readonly Reference[]; peakOf(target: SvgNode): Peak };

/**
 * A separately drawn element needs its own image, and whatever makes it separate needs more on top.
 */
export function addLayer(
  peak: Peak,
  layers: ReadonlySet<string>,
  { references, peakOf }: Layered,
): void {
  const beside = layers.has('filter') ? [peak.grids, FILTER_GRIDS] : [peak.grids];
  for (const { by, target } of references) {
    if (by === 'filter') beside.push(filterGrids(target));
    if (by !== 'mask' && by !== 'clip-path') continue;
    const { grids, outline_bytes } = peakOf(target);
    peak.outline_bytes = Math.max(peak.outline_bytes, outline_bytes);
    if (by === 'mask')
      beside.push(Math.max(MASK_GRIDS, 1 + grids) + (layers.has('filter') ? 1 : 0));
  }
  if (isApart(layers, references)) peak.grids = 1 + Math.max(...beside);
}

/**
 * Whether an element is drawn separately; one only clipped in its own coordinates is drawn in
 * place.
 */
function isApart(layers: ReadonlySet<string>, references: readonly Reference[]): boolean {
  if ([...layers].some((name) => name !== 'clip-path')) return true;
  return references.some(
    ({ by, target }) =>
      by === 'clip-path' && target.attributes.get('clipPathUnits') === 'objectBoundingBox',
  );
}

/** Each named result is kept to the end. */
function filterGrids(filter: SvgNode): number {
  const results = childElements(filter).map(({ attributes }) => attributes.get('result'));
  return FILTER_GRIDS + new Set(results.filter((name) => name !== undefined)).size;
}

const EDGE_BYTES = 60;
/** For a line without round ends or corners. */
const PLAIN_EDGES = 4;

export type Pen = { readonly hasStrokes: boolean; readonly isRound: boolean };

/** Whether anything has a stroke, and whether any stroke is round. */
export function penOf({ styles }: Drawing): Pen {
  const declared = [...styles.values()].flat();
  return {
    hasStrokes: hasStroke(declared),
    isRound: declared.some(([name, value]) => ROUNDING.has(name) && value === 'round'),
  };
}

export function hasStroke(declarations: readonly Declaration[]): boolean {
  return declarations.some(([property, value]) => property === 'stroke' && value !== 'none');
}

const ROUNDING = new Set(['stroke-linecap', 'stroke-linejoin']);

export function shapePeak(shape: ShapeCost | undefined, place: ShapePlace, pen: Pen): Peak {
  if (shape === undefined) return { ...noPeak };
  const { lines, span } = shape;
  const { scale, letter } = place;
  const isRound = pen.hasStrokes && pen.isRound;
  // Beyond the size of any grid, the width makes no difference.
  const radius = Math.min((letter.stroke * scale) / 2, SVG_RASTER_LONG_EDGE_MAX);
  const edges = PLAIN_EDGES + (isRound ? roundEdges(radius) : 0);
  const outline_bytes = lines * edges * EDGE_BYTES + (pen.hasStrokes ? penBytes(place) : 0);
  return { ...noPeak, outline_bytes, edges, span, scale };
}

/** Each dash is a separate line. */
export function addDashes(peak: Peak, period: number): void {
  const dashes = peak.length / period;
  peak.outline_bytes = Math.max(peak.outline_bytes, dashes * peak.edges * EDGE_BYTES);
}
