/** The pen of the SVG renderer for strokes: a circle approximated by corners, however wide. Measured with librsvg. */
import type { ShapePlace } from './shape-cost.ts';

/** The largest deviation from the circle, in pixels. */
const ROUND_TOLERANCE = 0.1;
const CORNER_BYTES = 24;
const CORNER_NS = 200;

export function roundEdges(radius: number): number {
  return (2 * Math.PI) / Math.acos(1 - ROUND_TOLERANCE / Math.max(radius, 2 * ROUND_TOLERANCE));
}

export function penNs(place: ShapePlace): number {
  return corners(place) * CORNER_NS;
}

export function penBytes(place: ShapePlace): number {
  return corners(place) * CORNER_BYTES;
}

function corners(place: ShapePlace): number {
  return roundEdges(strokePixels(place) / 2);
}

/** A non-scaling stroke has its stated width in pixels. */
export function strokePixels({ scale, letter }: Pick<ShapePlace, 'scale' | 'letter'>): number {
  return letter.stroke * Math.max(scale, 1);
}
