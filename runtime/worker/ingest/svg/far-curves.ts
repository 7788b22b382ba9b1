/**
 * Curves that reach far beyond any picture. Others cost about what their control polygons do; of these the renderer
 * makes a great many short lines, which it all holds against each other. Measured with librsvg. SVG 2, Paths.
 */

/** Pixels of the grid. */
const FAR = 8192;
/** Beyond them the renderer draws nothing. */
export const FARTHEST = 1e7;
/** So many come to within a tenth of a pixel of a curve that reaches a pixel, and by the root of what it reaches. */
const LINES_OF_A_PIXEL = 7.5;
/** The farther two of them reach, the longer it takes to find where they cross. */
const CROSSINGS_OF_A_PIXEL = 2e-6;

export type Point = { readonly x: number; readonly y: number };

/** The largest arcs are made of several curves, and as wide as two radii. */
const CURVES_OF_ARC = 2;
const RADII_OF_ARC = 2;

export class FarCurves {
  readonly #scale: number;
  #count = 0;
  #reach = 0;
  /** All together. */
  lines = 0;

  /** `scale`: pixels of the grid that a unit becomes. */
  constructor(scale: number) {
    this.#scale = scale;
  }

  /** Every pair of them, whether it does or not. */
  get crossings(): number {
    return (this.#count ** 2 / 2) * (1 + this.#reach * CROSSINGS_OF_A_PIXEL);
  }

  /** By the points that it names, its end last. */
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
