/**
 * Curves that reach far beyond any picture. Others cost about what their control polygons do; of these the renderer
 * makes a great many short lines, which it all holds against each other. Measured with librsvg. SVG 2, Paths.
 */

/** Pixels of the grid. */
const FAR = 8192;
/** Beyond them the renderer draws nothing. */
const FARTHEST = 1e7;
/** So many come to within a tenth of a pixel of a curve that reaches a pixel, and by the root of what it reaches. */
const LINES_OF_A_PIXEL = 7.5;
/** The farther two of them reach, the longer it takes to find where they cross. */
const CROSSINGS_OF_A_PIXEL = 2e-6;

export type Point = { readonly x: number; readonly y: number };

/** What each command draws at most: an arc is made of several. */
const CURVES: Readonly<Record<string, number>> = { c: 1, s: 1, q: 1, a: 2 };

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

  /** `points`: those that a command names, its end last; an arc's radii around where it begins. */
  add(command: string, begin: Point, points: readonly Point[]): void {
    const curves = CURVES[command] ?? 0;
    if (curves === 0) return;
    const reaches = points.map(({ x, y }) =>
      Math.max(Math.abs(x - begin.x), Math.abs(y - begin.y)),
    );
    const reach = Math.min(Math.max(...reaches) * this.#scale, FARTHEST);
    if (reach < FAR) return;
    this.#count += curves;
    this.#reach = Math.max(this.#reach, reach);
    this.lines += curves * Math.sqrt(reach * LINES_OF_A_PIXEL);
  }
}
