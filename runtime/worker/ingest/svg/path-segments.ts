/**
 * The lines of a shape in its own units, as far as its cost needs them: a curve becomes its control polygon, an arc its
 * chord and a way around. SVG 2, Paths.
 */
import { FarCurves, type Point } from './far-curves.ts';
import { PathReader } from './path-reader.ts';

/** x0 y0 x1 y1 of one line after another. */
export type Segments = readonly number[];

export type PathLines = { readonly segments: Segments; readonly far: FarCurves };

/** The arguments of each command; an arc's flags may follow one another without space. */
const TAKES: Readonly<Record<string, string>> = {
  m: 'nn',
  l: 'nn',
  t: 'nn',
  h: 'n',
  v: 'n',
  c: 'nnnnnn',
  s: 'nnnn',
  q: 'nnnn',
  a: 'nnnffnn',
  z: '',
};
/** Nothing is drawn beyond it. */
const COORDINATE_MAX = 1e7;

/**
 * How much of a path is read: lines along more rows of the grid than this could not be drawn
 * anyway.
 */
export type PathBounds = {
  /** Grid pixels per unit. */
  readonly scale: number;
  /** The most rows counted for one line. */
  readonly line_rows_max: number;
  /**
   * Reading stops behind the line at which the sum of all rows, plus `line_rows` per line, exceeds
   * this.
   */
  readonly rows_max: number;
  readonly line_rows: number;
};

export function pathLines(text: string, bounds: PathBounds): PathLines {
  const pen = new Pen(bounds);
  const reader = new PathReader(text);
  for (let letter = reader.command(); letter !== undefined; letter = reader.command()) {
    const takes = TAKES[letter.toLowerCase()];
    if (takes === undefined) break;
    if (takes === '') pen.close();
    else drawAll(pen, { letter, takes, reader });
    if (pen.isFull()) break;
  }
  return pen;
}

/** Points in the syntax of `polyline` and `polygon`. */
export function pointLines(text: string, bounds: PathBounds): PathLines {
  return pathLines(`M${text}Z`, bounds);
}

type Run = { letter: string; takes: string; reader: PathReader };

/** A command letter may be followed by any number of argument sets. */
function drawAll(pen: Pen, { letter, takes, reader }: Run): void {
  const isRelative = letter === letter.toLowerCase();
  let name = letter.toLowerCase();
  const values: number[] = [];
  while (!pen.isFull()) {
    for (let index = 0; index < takes.length; index += 1) {
      const found = takes[index] === 'f' ? reader.flag() : reader.number();
      if (found === undefined) return;
      values[index] = Math.min(Math.max(found, -COORDINATE_MAX), COORDINATE_MAX);
    }
    if (isRelative) pen.draw(name, values, { left: pen.x, top: pen.y });
    else pen.draw(name, values, ORIGIN);
    if (name === 'm') name = 'l';
  }
}

type Place = { readonly left: number; readonly top: number };
const ORIGIN: Place = { left: 0, top: 0 };

class Pen {
  readonly segments: number[] = [];
  readonly far: FarCurves;
  x = 0;
  y = 0;
  readonly #bounds: PathBounds;
  #start = { x: 0, y: 0 };
  #rows = 0;

  constructor(bounds: PathBounds) {
    this.#bounds = bounds;
    this.far = new FarCurves(bounds.scale);
  }

  isFull(): boolean {
    return this.#rows > this.#bounds.rows_max;
  }

  draw(name: string, values: readonly number[], from: Place): void {
    const first = values[0] ?? 0;
    if (name === 'h') this.#line(from.left + first, this.y);
    else if (name === 'v') this.#line(this.x, from.top + first);
    else if (name === 'a') this.#arc(values, from);
    else if (name === 'm') {
      this.x = from.left + first;
      this.y = from.top + (values[1] ?? 0);
      this.#start = { x: this.x, y: this.y };
    } else this.#points(name, values, from);
  }

  /** The end of a line, or all points of a curve. */
  #points(name: string, values: readonly number[], { left, top }: Place): void {
    const begin = { x: this.x, y: this.y };
    const points: Point[] = [];
    for (let at = 0; at + 1 < values.length; at += 2) {
      points.push({ x: left + (values[at] ?? 0), y: top + (values[at + 1] ?? 0) });
    }
    if (name !== 'l' && name !== 't') this.far.addCurve(begin, points);
    for (const { x, y } of points) this.#line(x, y);
  }

  close(): void {
    this.#line(this.#start.x, this.#start.y);
  }

  #line(x: number, y: number): void {
    const { scale, line_rows_max, line_rows } = this.#bounds;
    const rows = Math.max(Math.abs(x - this.x), Math.abs(y - this.y)) * scale;
    this.#rows += Math.min(rows, line_rows_max) + line_rows;
    this.segments.push(this.x, this.y, x, y);
    this.x = x;
    this.y = y;
  }

  /** Replaces an arc by lines past the farthest points of its largest circle. */
  #arc(values: readonly number[], { left, top }: Place): void {
    const [rx = 0, ry = 0, , , , dx = 0, dy = 0] = values;
    this.far.addArc(Math.max(Math.abs(rx), Math.abs(ry)));
    const [endX, endY] = [left + dx, top + dy];
    const [middleX, middleY] = [(this.x + endX) / 2, (this.y + endY) / 2];
    this.#line(middleX + Math.abs(rx), middleY + Math.abs(ry));
    this.#line(middleX - Math.abs(rx), middleY + Math.abs(ry));
    this.#line(endX, endY);
  }
}
