/**
 * The lines that a shape is made of, in its own units, as far as its cost needs them: curves are their
 * control polygons, arcs the chord and the way around. SVG 2, Paths.
 */

/** x0 y0 x1 y1 of one line after another. */
export type Segments = readonly number[];

const NUMBER = /[\s,]*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)/iy;
const FLAG = /[\s,]*([01])/y;
const COMMAND = /[\s,]*([a-z])/iy;
/** What each command takes; an arc's flags may stand without space between them. */
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
/** Beyond it nothing is drawn. */
const COORDINATE_MAX = 1e7;

export function pathSegments(text: string): Segments {
  const pen = new Pen();
  const reader = readerOf(text);
  for (let letter = reader.take(COMMAND); letter !== undefined; letter = reader.take(COMMAND)) {
    const takes = TAKES[letter.toLowerCase()];
    if (takes === undefined) break;
    if (takes === '') pen.close();
    else drawAll(pen, { letter, takes, reader });
  }
  return pen.segments;
}

/** Points as `polyline` and `polygon` have them. */
export function pointSegments(text: string): Segments {
  return pathSegments(`M${text}Z`);
}

type Reader = { take(token: RegExp): string | undefined };

function readerOf(text: string): Reader {
  let at = 0;
  return {
    take: (token) => {
      token.lastIndex = at;
      const found = token.exec(text)?.[1];
      if (found !== undefined) at = token.lastIndex;
      return found;
    },
  };
}

type Run = { letter: string; takes: string; reader: Reader };

/** One letter may be followed by any number of its arguments. */
function drawAll(pen: Pen, { letter, takes, reader }: Run): void {
  const isRelative = letter === letter.toLowerCase();
  let name = letter.toLowerCase();
  for (;;) {
    const values: number[] = [];
    for (const kind of takes) {
      const found = reader.take(kind === 'f' ? FLAG : NUMBER);
      if (found === undefined) return;
      values.push(Math.min(Math.max(Number(found), -COORDINATE_MAX), COORDINATE_MAX));
    }
    pen.draw(name, values, isRelative ? pen.at : [0, 0]);
    if (name === 'm') name = 'l';
  }
}

type Point = readonly [x: number, y: number];

class Pen {
  readonly segments: number[] = [];
  at: Point = [0, 0];
  #start: Point = [0, 0];

  draw(name: string, values: readonly number[], [left, top]: Point): void {
    const [first = 0] = values;
    if (name === 'h') this.#line([left + first, this.at[1]]);
    else if (name === 'v') this.#line([this.at[0], top + first]);
    else if (name === 'a') this.#arc(values, [left, top]);
    else if (name === 'm') {
      this.at = [left + first, top + (values[1] ?? 0)];
      this.#start = this.at;
    } else {
      for (let index = 0; index < values.length; index += 2) {
        this.#line([left + (values[index] ?? 0), top + (values[index + 1] ?? 0)]);
      }
    }
  }

  close(): void {
    this.#line(this.#start);
  }

  #line([x, y]: Point): void {
    this.segments.push(this.at[0], this.at[1], x, y);
    this.at = [x, y];
  }

  /** Around by way of where the largest circle would reach. */
  #arc([rx = 0, ry = 0, , , , dx = 0, dy = 0]: readonly number[], [left, top]: Point): void {
    const end: Point = [left + dx, top + dy];
    const middle: Point = [(this.at[0] + end[0]) / 2, (this.at[1] + end[1]) / 2];
    this.#line([middle[0] + Math.abs(rx), middle[1] + Math.abs(ry)]);
    this.#line([middle[0] - Math.abs(rx), middle[1] + Math.abs(ry)]);
    this.#line(end);
  }
}
