/**
 * Curves that reach far beyond any picture. Other curves cost about as much as their control polygons; these are
 * divided by the renderer into very many short lines, all of which it compares with each other. Measured with librsvg.
 * SVG 2, Paths.
 */

/** In pixels of the grid. */
const FAR = 8192;
/** The renderer draws nothing beyond it. */
export const FARTHEST = 1e7;
/**
 * Lines needed to approximate a curve with a reach of one pixel to a tenth of a pixel; grows with
 * the root of the reach.
 */
const LINES_OF_A_PIXEL = 7.5;
/** The farther two curves reach, the longer it takes to find their crossing. */
const CROSSINGS_OF_A_PIXEL = 2e-6;

export type Point = { readonly x: number; readonly y: number };

/** The largest arcs consist of several curves, and are two radii wide. */
const CURVES_OF_ARC = 2;
const RADII_OF_ARC = 2;

export class FarCurves {
  readonly #scale: number;
  #count = 0;
  #reach = 0;
  /** The sum over all far curves. */
  lines = 0;

  /** `scale`: grid pixels per unit. */
  constructor(scale: number) {
    this.#scale = scale;
  }

  /** Every pair counts, whether it crosses or not. */
  get crossings(): number {
    return (this.#count ** 2 / 2) * (1 + this.#reach * CROSSINGS_OF_A_PIXEL);
  }

  /** `points`: the points in the command, the end last. */
  addCurve(begin: Point, points: readonly Point[]): void {
    const reaches = points.map(({ x, y }) =>
      Math.max(Math.abs(x - begin.x), Math.abs(y - begin.y)),
    );
    this.#add(1, Math.max(...reaches));
  }

  addArc(radius: number): void {
    this.#add(CURVES_OF_ARC, RADII_OF_ARC * radius);
  }

  #add(curves: number, units: number): void {
    const reach = Math.min(units * this.#scale, FARTHEST);
    if (reach < FAR) return;
    this.#count += curves;
    this.#reach = Math.max(this.#reach, reach);
    this.lines += curves * Math.sqrt(reach * LINES_OF_A_PIXEL);
  }
}
