/**
 * The cost of drawing one shape, in nanoseconds of one core, measured with librsvg: by its lines, by their crossings
 * (which make small files take minutes), and by the pixels it covers.
 */
import { SVG_DRAWING_NS_MAX } from '../../../core/limits.ts';
import { lengthsOf, placeOf } from './lengths.ts';
import {
  type PathBounds,
  type PathLines,
  pathLines,
  pointLines,
  type Segments,
} from './path-segments.ts';
import { penNs } from './pen.ts';
import type { SvgSize } from './raster-grid.ts';
import type { SvgNode } from './svg-node.ts';
import { type LetterSize, textCost } from './text-cost.ts';

export type ShapeCost = {
  fill_ns: number;
  /** In addition, if it has a stroke. */
  stroke_ns: number;
  /** Grid pixels under its box. */
  area: number;
  /** Pixels along its lines. */
  length: number;
  lines: number;
  /** Pixels of the longer side of its box, on the grid or not. */
  span: number;
};

export type ShapePlace = {
  /** Grid pixels per unit of it. */
  readonly scale: number;
  /** A hundredth of the surrounding viewport, in its units. */
  readonly percent: number;
  readonly grid: SvgSize;
  /** The largest possible letters, in its units. */
  readonly letter: LetterSize;
  /** Whether each text sets up its font again. */
  readonly sets_fonts: boolean;
};

const SHAPE_NS = 30_000;
const SEGMENT_NS = { fill: 5000, stroke: 8000 };
const FAR_LINE_NS = 1000;
const ROW_NS = { fill: 200, stroke: 400 };
const CROSSING_NS = { fill: 11_000, stroke: 15_000 };
const PIXEL_NS = 1;

export function shapeCost(node: SvgNode, place: ShapePlace): ShapeCost | undefined {
  const cost = drawnCost(node, place);
  if (cost !== undefined) cost.stroke_ns += penNs(place);
  return cost;
}

function drawnCost(node: SvgNode, place: ShapePlace): ShapeCost | undefined {
  const { name, attributes } = node;
  if (name === 'path')
    return linesCost(pathLines(attributes.get('d') ?? '', boundsOf(place)), place);
  if (name === 'polygon' || name === 'polyline') {
    return linesCost(pointLines(attributes.get('points') ?? '', boundsOf(place)), place);
  }
  if (name === 'line') return linesCost({ segments: lineSegment(node, place) }, place);
  if (TEXTS.has(name)) return textCost(node, place);
  const box = boxOf(node, place);
  return box === undefined ? undefined : boxCost(box, place);
}

/** Reading stops behind the line with which a shape costs more than any drawing may. */
function boundsOf({ scale, grid }: ShapePlace): PathBounds {
  return {
    scale,
    line_rows_max: grid.height,
    line_rows: SEGMENT_NS.fill / ROW_NS.fill,
    rows_max: SVG_DRAWING_NS_MAX / ROW_NS.fill,
  };
}

export const TEXTS = new Set(['text', 'tspan', 'textPath']);

function lineSegment({ attributes }: SvgNode, { percent, letter }: ShapePlace): Segments {
  const around = { font: letter.font, percent };
  return ['x1', 'y1', 'x2', 'y2'].map((name) => placeOf(attributes.get(name), around));
}

function boxOf(
  { name, attributes }: SvgNode,
  { percent, letter }: ShapePlace,
): SvgSize | undefined {
  const around = { font: letter.font, percent };
  const at = (attribute: string, times: number) =>
    Math.max(0, ...lengthsOf(attributes.get(attribute) ?? '', around)) * times;
  if (name === 'rect') return { width: at('width', 1), height: at('height', 1) };
  if (name === 'circle') return { width: at('r', 2), height: at('r', 2) };
  if (name === 'ellipse') {
    const [rx, ry] = [at('rx', 2), at('ry', 2)];
    return { width: rx || ry, height: ry || rx };
  }
  return undefined;
}

const BOX_SEGMENTS = 12;

function boxCost({ width, height }: SvgSize, place: ShapePlace): ShapeCost {
  const { scale, grid } = place;
  const rows = 4 * Math.min(height * scale, grid.height);
  const area = areaOf({ width, height }, place);
  const fixed = (way: 'fill' | 'stroke') =>
    SHAPE_NS + BOX_SEGMENTS * SEGMENT_NS[way] * CURVE_SHARE + rows * ROW_NS[way] + area * PIXEL_NS;
  const length = Math.min(2 * (width + height) * scale, LENGTH_MAX);
  const span = Math.max(width, height) * scale;
  return {
    fill_ns: fixed('fill'),
    stroke_ns: fixed('stroke'),
    area,
    length,
    lines: BOX_SEGMENTS,
    span: Number.isFinite(span) ? span : Math.max(grid.width, grid.height),
  };
}

const CURVE_SHARE = 0.25;
const LENGTH_MAX = 1e9;

function areaOf({ width, height }: SvgSize, { scale, grid }: ShapePlace): number {
  // Rotated by 45 degrees, a box covers more in both directions.
  const side = (units: number, max: number) => Math.min(1.5 * units * scale + 1, max);
  return side(width, grid.width) * side(height, grid.height);
}

type Lines = Pick<PathLines, 'segments'> & Partial<PathLines>;

function linesCost({ segments, far }: Lines, place: ShapePlace): ShapeCost {
  const { scale, grid } = place;
  const count = segments.length / 4;
  const farLines = far?.lines ?? 0;
  const { width, height, rows, length } = measure(segments, { scale, rowMax: grid.height });
  const area = areaOf({ width, height }, place);
  const crossings = Math.max(estimateCrossings(segments), far?.crossings ?? 0);
  const ns = (way: 'fill' | 'stroke') =>
    SHAPE_NS +
    count * SEGMENT_NS[way] +
    farLines * FAR_LINE_NS +
    rows * ROW_NS[way] +
    crossings * CROSSING_NS[way] +
    area * PIXEL_NS;
  return {
    fill_ns: ns('fill'),
    stroke_ns: ns('stroke'),
    area,
    length: length * scale,
    lines: count + farLines,
    span: Math.max(width, height) * scale,
  };
}

function measure(segments: Segments, { scale, rowMax }: { scale: number; rowMax: number }) {
  const [x = 0, y = 0] = segments;
  const box = { left: x, right: x, top: y, bottom: y };
  let [rows, length] = [0, 0];
  for (let at = 0; at < segments.length; at += 4) {
    const [x0, y0, x1, y1] = lineAt(segments, at);
    box.left = Math.min(box.left, x0, x1);
    box.right = Math.max(box.right, x0, x1);
    box.top = Math.min(box.top, y0, y1);
    box.bottom = Math.max(box.bottom, y0, y1);
    // The larger direction, because the shape may be rotated.
    rows += Math.min(Math.max(Math.abs(y1 - y0), Math.abs(x1 - x0)) * scale, rowMax);
    length += Math.hypot(x1 - x0, y1 - y0);
  }
  return { width: box.right - box.left, height: box.bottom - box.top, rows, length };
}

const SAMPLES_MIN = 200;
const SAMPLES_MAX = 4000;
const SEGMENTS_MIN = 40;

/** The number of crossings, estimated from the share of crossing pairs in a fixed sample. */
function estimateCrossings(segments: Segments): number {
  const count = segments.length / 4;
  if (count < SEGMENTS_MIN) return 0;
  const samples = Math.min(Math.max(count, SAMPLES_MIN), SAMPLES_MAX);
  let [state, found] = [count >>> 0, 0];
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * count) * 4;
  };
  for (let sample = 0; sample < samples; sample += 1) {
    if (cross(lineAt(segments, next()), lineAt(segments, next()))) found += 1;
  }
  return (found / samples) * ((count * count) / 2);
}

type Line = readonly [x0: number, y0: number, x1: number, y1: number];

function lineAt(segments: Segments, at: number): Line {
  return [segments[at] ?? 0, segments[at + 1] ?? 0, segments[at + 2] ?? 0, segments[at + 3] ?? 0];
}

/** Whether two lines properly cross: both ends of each lie on different sides of the other. */
function cross(a: Line, b: Line): boolean {
  const side = ([x0, y0, x1, y1]: Line, x: number, y: number) =>
    (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0);
  const isBetween = (one: Line, other: Line) =>
    side(one, other[0], other[1]) * side(one, other[2], other[3]) < 0;
  return isBetween(a, b) && isBetween(b, a);
}
