/**
 * Converts the node values of an ink table to linear sRGB: the curves and matrix behind the nodes, Lab or XYZ, and
 * black point compensation as in Little CMS (the look of full inks becomes black).
 */
import { D50 } from './color-description.ts';
import type { Curve } from './icc-curve.ts';
import type { ColorEncoding, InkTable, Stage } from './ink-table.ts';

/** Modifies three numbers in place. */
export type Light = (color: Float64Array) => void;

const COLORS = 3;
/** Converts XYZ adapted to D50 to linear sRGB (Bradford). */
const TO_SRGB = [
  3.1338561, -1.6168667, -0.4906146, -0.9787684, 1.9161415, 0.033454, 0.0719453, -0.2289914,
  1.4052427,
] as const;
/** The black of every perceptual table of version 4. */
const AGREED_BLACK = [0.00336, 0.0034731, 0.00287] as const;
/** The light of a lightness of 50. */
const BLACK_LIGHT_MAX = 0.184_187;
const EXACT = 1e-5;

export function linearLight(table: InkTable): Light {
  const steps = [...table.stages.flatMap(stageOf), decoders[table.encoding]];
  const toXyz: Light = (color) => {
    for (const step of steps) step(color);
  };
  const { scale, offset } = compensate(
    table.has_agreed_black ? AGREED_BLACK : blackOf(table, toXyz),
  );
  const [xr, yr, zr, xg, yg, zg, xb, yb, zb] = TO_SRGB;
  return (color) => {
    toXyz(color);
    const x = (color[0] ?? 0) * scale[0] + offset[0];
    const y = (color[1] ?? 0) * scale[1] + offset[1];
    const z = (color[2] ?? 0) * scale[2] + offset[2];
    color[0] = xr * x + yr * y + zr * z;
    color[1] = xg * x + yg * y + zg * z;
    color[2] = xb * x + yb * y + zb * z;
  };
}

/** Empty when the curves change nothing. */
function stageOf(stage: Stage): Light[] {
  if ('matrix' in stage) return [multiplyBy(stage.matrix)];
  const tables = stage.curves.map(tabulate);
  const isIdentity = tables.every((table) =>
    table.every((value, at) => Math.abs(value - at / CURVE_STEPS) < EXACT),
  );
  if (isIdentity) return [];
  return [
    (color) => {
      for (let index = 0; index < COLORS; index += 1) {
        color[index] = lookUp(tables[index] ?? NONE, color[index] ?? 0);
      }
    },
  ];
}

const CURVE_STEPS = 4096;
const NONE = new Float32Array(CURVE_STEPS + 1);

function tabulate(curve: Curve): Float32Array {
  return Float32Array.from({ length: CURVE_STEPS + 1 }, (_, at) => curve(at / CURVE_STEPS));
}

function lookUp(table: Float32Array, value: number): number {
  const place = Math.min(Math.max(value, 0), 1) * CURVE_STEPS;
  const at = Math.min(Math.floor(place), CURVE_STEPS - 1);
  const low = table[at] ?? 0;
  return low + ((table[at + 1] ?? 0) - low) * (place - at);
}

/** `numbers`: nine factors and three summands. */
function multiplyBy(numbers: readonly number[]): Light {
  const rows = Array.from({ length: COLORS }, (_, row) => {
    const [a = 0, b = 0, c = 0] = numbers.slice(row * COLORS);
    return { a, b, c, more: numbers[COLORS * COLORS + row] ?? 0 };
  });
  return (color) => {
    const [x = 0, y = 0, z = 0] = color;
    for (const [row, { a, b, c, more }] of rows.entries()) {
      color[row] = a * x + b * y + c * z + more;
    }
  };
}

const decoders: Readonly<Record<ColorEncoding, Light>> = {
  lab: (color) => fromLab(color, 1),
  // Of the 65,535 steps the last 255 are above white.
  'lab-16': (color) => fromLab(color, 65_535 / 65_280),
  xyz: (color) => {
    for (let index = 0; index < COLORS; index += 1) {
      color[index] = ((color[index] ?? 0) * 65_535) / 32_768;
    }
  },
};

function fromLab(color: Float64Array, unit: number): void {
  const y = ((color[0] ?? 0) * unit * 100 + 16) / 116;
  const x = y + ((color[1] ?? 0) * unit * 255 - 128) / 500;
  const z = y - ((color[2] ?? 0) * unit * 255 - 128) / 200;
  color[0] = cubed(x) * D50[0];
  color[1] = cubed(y) * D50[1];
  color[2] = cubed(z) * D50[2];
}

function cubed(value: number): number {
  return value > 24 / 116 ? value * value * value : (value - 16 / 116) * (108 / 841);
}

type Xyz = readonly [number, number, number];

/** A grey as dark as all inks together, whose node is the last one. */
function blackOf({ nodes }: InkTable, toXyz: Light): Xyz {
  const darkest = Float64Array.from(nodes.subarray(-COLORS));
  toXyz(darkest);
  const y = Math.min(Math.max(darkest[1] ?? 0, 0), BLACK_LIGHT_MAX);
  return [y * D50[0], y, y * D50[2]];
}

/** White stays, the given black becomes zero. */
function compensate(black: Xyz): { scale: Xyz; offset: Xyz } {
  const scale = (index: 0 | 1 | 2) => D50[index] / (D50[index] - black[index]);
  const offset = (index: 0 | 1 | 2) => -black[index] * scale(index);
  return { scale: [scale(0), scale(1), scale(2)], offset: [offset(0), offset(1), offset(2)] };
}
