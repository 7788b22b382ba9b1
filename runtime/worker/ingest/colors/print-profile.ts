/**
 * Creates the ICC profile of colors described by numbers: for conversion by the one color engine, and for raw
 * downloads. Light above a screen's white (PQ, HLG) is rolled off towards it. Spec: What the service does.
 */
import { ICC_HEADER_BYTES, ICC_TAG_BYTES } from '../metadata/icc-tags.ts';
import {
  type Chromaticities,
  type ColorDescription,
  D50,
  type Transfer,
} from './color-description.ts';

type Xyz = readonly [number, number, number];
type Matrix = readonly [Xyz, Xyz, Xyz];

const BRADFORD: Matrix = [
  [0.8951, 0.2664, -0.1614],
  [-0.7502, 1.7135, 0.0367],
  [0.0389, -0.0685, 1.0296],
];
const CURVE_POINTS = 4096;
/** In PQ's 10,000 cd/m², and in HLG's signal: the level of paper white by ITU-R BT.2408. */
const PAPER_WHITE = 203;
const PQ_PEAK = 10_000;
const HLG_PEAK = 1000;
const HLG_SYSTEM_GAMMA = 1.2;
/** Below this share of white, light is unchanged. */
const ROLL_OFF_FROM = 0.75;

/** Undefined when the primaries span no colors. */
export function printProfile(
  { primaries, transfer }: ColorDescription,
  space: 'grey' | 'rgb',
): Buffer | undefined {
  const curve = printCurve(transfer);
  if (space === 'grey') return wrap('GRAY', { kTRC: curve });
  const colorants = colorantsOf(primaries);
  if (!colorants.flat().every((value) => Math.abs(value) < 2)) return undefined;
  const [red, green, blue] = colorants.map(printXyz);
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  const curves = { rTRC: curve, gTRC: curve, bTRC: curve };
  return wrap('RGB ', { rXYZ: red, gXYZ: green, bXYZ: blue, ...curves });
}

/** Red, green and blue at full strength, adapted to D50. */
function colorantsOf({ white, red, green, blue }: Chromaticities): Matrix {
  const points = [red, green, blue].map(([x, y]): Xyz => [x / y, 1, (1 - x - y) / y]);
  const [r = D50, g = D50, b = D50] = points;
  const whole: Xyz = [white[0] / white[1], 1, (1 - white[0] - white[1]) / white[1]];
  const strengths = multiply(inverse(transpose([r, g, b])), whole);
  const cones = multiply(BRADFORD, whole).map(
    (value, index) => (multiply(BRADFORD, D50)[index] ?? 0) / value,
  );
  const adapt = (color: Xyz): Xyz => {
    const [l, m, s] = multiply(BRADFORD, color);
    return multiply(inverse(BRADFORD), [
      l * (cones[0] ?? 1),
      m * (cones[1] ?? 1),
      s * (cones[2] ?? 1),
    ]);
  };
  const scaled = ([x, y, z]: Xyz, by: number): Xyz => [x * by, y * by, z * by];
  return [
    adapt(scaled(r, strengths[0])),
    adapt(scaled(g, strengths[1])),
    adapt(scaled(b, strengths[2])),
  ];
}

function multiply(matrix: Matrix, [x, y, z]: Xyz): Xyz {
  const [first, second, third] = matrix;
  const row = ([a, b, c]: Xyz) => a * x + b * y + c * z;
  return [row(first), row(second), row(third)];
}

function transpose([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  return [
    [a, d, g],
    [b, e, h],
    [c, f, i],
  ];
}

function inverse([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  const by = (value: number) => value / determinant;
  return [
    [by(e * i - f * h), by(c * h - b * i), by(b * f - c * e)],
    [by(f * g - d * i), by(a * i - c * g), by(c * d - a * f)],
    [by(d * h - e * g), by(b * g - a * h), by(a * e - b * d)],
  ];
}

function printCurve(transfer: Transfer): Buffer {
  if (typeof transfer === 'number') return parametric(0, [transfer]);
  if (transfer === 'srgb')
    return parametric(3, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]);
  const light = transfer === 'pq' ? pqLight : hlgLight;
  const bytes = Buffer.alloc(12 + CURVE_POINTS * 2);
  bytes.write('curv', 'latin1');
  bytes.writeUInt32BE(CURVE_POINTS, 8);
  for (let index = 0; index < CURVE_POINTS; index += 1) {
    const value = rolledOff(light(index / (CURVE_POINTS - 1)));
    bytes.writeUInt16BE(Math.round(value * 65_535), 12 + index * 2);
  }
  return bytes;
}

/** SMPTE ST 2084, in multiples of paper white. */
function pqLight(signal: number): number {
  const power = signal ** (32 / 2523);
  const [c1, c2, c3] = [3424 / 4096, 2413 / 128, 2392 / 128];
  return ((Math.max(power - c1, 0) / (c2 - c3 * power)) ** (8192 / 1305) * PQ_PEAK) / PAPER_WHITE;
}

/** ITU-R BT.2100, on a screen of 1000 cd/m². */
function hlgLight(signal: number): number {
  const [a, b, c] = [0.178_832_77, 0.284_668_92, 0.559_910_73];
  const scene = signal <= 0.5 ? signal ** 2 / 3 : (Math.exp((signal - c) / a) + b) / 12;
  return (scene ** HLG_SYSTEM_GAMMA * HLG_PEAK) / PAPER_WHITE;
}

function rolledOff(light: number): number {
  if (light <= ROLL_OFF_FROM) return light;
  const room = 1 - ROLL_OFF_FROM;
  return ROLL_OFF_FROM + room * (1 - Math.exp(-(light - ROLL_OFF_FROM) / room));
}

function parametric(kind: number, parameters: readonly number[]): Buffer {
  const bytes = Buffer.alloc(12 + parameters.length * 4);
  bytes.write('para', 'latin1');
  bytes.writeUInt16BE(kind, 8);
  for (const [index, value] of parameters.entries())
    bytes.writeInt32BE(fixed(value), 12 + index * 4);
  return bytes;
}

function printXyz(values: Xyz): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.write('XYZ ', 'latin1');
  for (const [index, value] of values.entries()) bytes.writeInt32BE(fixed(value), 8 + index * 4);
  return bytes;
}

function printText(text: string): Buffer {
  const bytes = Buffer.alloc(28 + text.length * 2);
  bytes.write('mluc', 'latin1');
  for (const [index, value] of [1, 12].entries()) bytes.writeUInt32BE(value, 8 + index * 4);
  bytes.write('enUS', 16, 'latin1');
  bytes.writeUInt32BE(text.length * 2, 20);
  bytes.writeUInt32BE(28, 24);
  for (const [index, letter] of [...text].entries()) {
    bytes.writeUInt16BE(letter.charCodeAt(0), 28 + index * 2);
  }
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}

/** A profile of version 4, display class. */
function wrap(space: string, colors: Readonly<Record<string, Buffer>>): Buffer {
  const text = { desc: printText('Described by the picture'), cprt: printText('None  ') };
  const tags = Object.entries({ ...text, wtpt: printXyz(D50), ...colors });
  const header = Buffer.alloc(ICC_HEADER_BYTES);
  header.writeUInt32BE(0x0440_0000, 8);
  header.write(`mntr${space}XYZ `, 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  for (const [index, value] of D50.entries()) header.writeInt32BE(fixed(value), 68 + index * 4);
  const table = Buffer.alloc(4 + tags.length * ICC_TAG_BYTES);
  table.writeUInt32BE(tags.length, 0);
  let start = ICC_HEADER_BYTES + table.length;
  for (const [index, [name, bytes]] of tags.entries()) {
    const at = 4 + index * ICC_TAG_BYTES;
    table.write(name, at, 'latin1');
    table.writeUInt32BE(start, at + 4);
    table.writeUInt32BE(bytes.length, at + 8);
    start += bytes.length;
  }
  header.writeUInt32BE(start, 0);
  return Buffer.concat([header, table, ...tags.map(([, bytes]) => bytes)]);
}

function fixed(value: number): number {
  return Math.round(value * 65_536);
}
