/**
 * What drawing an SVG takes of memory at its peak, known without drawing it: librsvg makes a picture of the whole grid
 * for each layer, one for each result of a filter that has a name, a tile for each pattern, and an outline of each
 * stroke. Measured, and rounded up. Spec: Limits, Uploads (SVG complexity).
 */
import { SVG_RASTER_LONG_EDGE_MAX } from '../../../core/limits.ts';
import { type Drawing, type Reference, saidBy } from './drawing.ts';
import { lengthOf } from './lengths.ts';
import { penBytes, roundEdges } from './pen.ts';
import type { SvgSize } from './raster-grid.ts';
import { rootUnits } from './scales.ts';
import type { ShapeCost, ShapePlace } from './shape-cost.ts';
import { childElements, type SvgNode } from './svg-node.ts';
import { transformScale } from './transforms.ts';

/** What is added up on the way from the shapes to the picture: the most that one of them takes. */
export type Peak = {
  /** Pictures as large as the grid at a time, the one that is drawn on not counted. */
  grids: number;
  /** Of the outline of a stroke or an area. */
  outline_bytes: number;
  /** Of the outline, for each line or dash. */
  edges: number;
  /** Along the longest shape, in what its dashes are told in. */
  length: number;
  /** Pixels of the longer side of the largest shape, and those that a unit of it becomes. */
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

/** What goes beyond all numbers is more than anybody has. */
export function peakBytes({ grids, outline_bytes }: Peak, { width, height }: SvgSize): number {
  const bytes = grids * width * height * PIXEL_BYTES + outline_bytes;
  return Number.isFinite(bytes) ? bytes : Number.MAX_SAFE_INTEGER;
}

/** One after the other: what one took is free for the next. */
export function joinPeaks(one: Peak, other: Peak): void {
  one.grids = Math.max(one.grids, other.grids);
  one.outline_bytes = Math.max(one.outline_bytes, other.outline_bytes);
  one.edges = Math.max(one.edges, other.edges);
  one.length = Math.max(one.length, other.length);
  one.span = Math.max(one.span, other.span);
  one.scale = Math.max(one.scale, other.scale);
}

/** What a paint or a marker takes comes on top of the layers in which it is used. */
export function addPaint(peak: Peak, paint: { tile: number; peak: Peak }): void {
  peak.grids += paint.tile + paint.peak.grids;
  peak.outline_bytes = Math.max(peak.outline_bytes, paint.peak.outline_bytes);
}

/** Where it is not opaque, a second one. */
const TILES = 2;

type Painted = { readonly peak: Peak; readonly font: number };

/** Of a pattern, whose tile may be larger than the picture. */
export function tileGrids(drawing: Drawing, pattern: SvgNode, { peak, font }: Painted): number {
  if (pattern.name !== 'pattern') return 0;
  const { span, scale } = peak;
  const said = (name: string) => saidBy(drawing, pattern, name);
  const isAbsolute = said('patternUnits') === 'userSpaceOnUse';
  const side = (text: string | undefined) => {
    if (isAbsolute) {
      return lengthOf(text, text === undefined ? 0 : rootUnits(drawing), font) * scale;
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

/** A mask's picture, what it lets through, and what both make. */
const MASK_GRIDS = 2;
/** What goes into a filter, comes out, and is between. */
const FILTER_GRIDS = 8;

type Layered = { references: readonly Reference[]; peakOf(target: SvgNode): Peak };

/** An element drawn apart takes a picture of its own, and what makes it another one does so on top of it. */
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

/** What is only cut in its own coordinates is drawn where it belongs. */
function isApart(layers: ReadonlySet<string>, references: readonly Reference[]): boolean {
  if ([...layers].some((name) => name !== 'clip-path')) return true;
  return references.some(
    ({ by, target }) =>
      by === 'clip-path' && target.attributes.get('clipPathUnits') === 'objectBoundingBox',
  );
}

/** Each result with a name is kept to the end. */
function filterGrids(filter: SvgNode): number {
  const results = childElements(filter).map(({ attributes }) => attributes.get('result'));
  return FILTER_GRIDS + new Set(results.filter((name) => name !== undefined)).size;
}

const EDGE_BYTES = 60;
/** Of a line without round ends or corners. */
const PLAIN_EDGES = 4;

export type Pen = { readonly hasStrokes: boolean; readonly isRound: boolean };

/** Whether anything is drawn with a stroke, and whether any of it is round. */
export function penOf({ styles }: Drawing): Pen {
  const declared = [...styles.values()].flat();
  return {
    hasStrokes: declared.some(([name, value]) => name === 'stroke' && value !== 'none'),
    isRound: declared.some(([name, value]) => ROUNDING.has(name) && value === 'round'),
  };
}

const ROUNDING = new Set(['stroke-linecap', 'stroke-linejoin']);

export function shapePeak(shape: ShapeCost | undefined, place: ShapePlace, pen: Pen): Peak {
  if (shape === undefined) return { ...noPeak };
  const { lines, span } = shape;
  const { scale, letter } = place;
  const isRound = pen.hasStrokes && pen.isRound;
  // Wider than any grid it is all the same.
  const radius = Math.min((letter.stroke * scale) / 2, SVG_RASTER_LONG_EDGE_MAX);
  const edges = PLAIN_EDGES + (isRound ? roundEdges(radius) : 0);
  const outline_bytes = lines * edges * EDGE_BYTES + (pen.hasStrokes ? penBytes(place) : 0);
  return { ...noPeak, outline_bytes, edges, span, scale };
}

/** Each dash is a line of its own. */
export function addDashes(peak: Peak, period: number): void {
  const dashes = peak.length / period;
  peak.outline_bytes = Math.max(peak.outline_bytes, dashes * peak.edges * EDGE_BYTES);
}
