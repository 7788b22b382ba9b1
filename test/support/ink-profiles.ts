/** ICC profiles of fictitious printers, CMYK or RGB, with their color table in each of ICC's table types. */
import { printProfile } from './icc.ts';

export const inkForms = ['lut8', 'lut16', 'lut16 of XYZ', 'lutAToB'] as const;
export type InkForm = (typeof inkForms)[number];

const SIDE = 7;
const PRINTER = { kind: 'prtr', connection: 'Lab ', version: 0x0210_0000 };

export const printInkProfile = (form: InkForm) => printTable('CMYK', form);

/** A printer with an RGB profile. Its black is only a dark gray. */
export const printLightProfile = (form: InkForm) => printTable('RGB ', form);

type Space = keyof typeof spaces;

function printTable(space: Space, form: InkForm): Buffer {
  switch (form) {
    case 'lut8':
      return printProfile(space, { A2B0: fixedTable(space, 1, lab8) }, PRINTER);
    case 'lut16':
      return printProfile(space, { A2B0: fixedTable(space, 2, lab16) }, PRINTER);
    case 'lut16 of XYZ':
      return printProfile(
        space,
        { A2B0: fixedTable(space, 2, xyz16) },
        { ...PRINTER, connection: 'XYZ ' },
      );
    case 'lutAToB':
      return printProfile(
        space,
        { A2B0: flexibleTable(space) },
        { ...PRINTER, version: 0x0420_0000 },
      );
  }
}

type Lab = readonly [l: number, a: number, b: number];
type Inks = readonly [c: number, m: number, y: number, k: number];

/** The color of printed inks: every ink darkens it, and all four give nearly black. */
function look([c, m, y, k]: Inks): Lab {
  const light = (1 - 0.45 * c) * (1 - 0.5 * m) * (1 - 0.12 * y) * (1 - 0.88 * k);
  const left = 1 - 0.95 * k;
  return [
    8 + 92 * light ** 1.1,
    (65 * m - 32 * c + 4 * y * m) * left,
    (85 * y - 45 * c - 6 * m) * left * (1 - 0.4 * c),
  ];
}

/** Converts RGB to inks. For black, the printer uses all of its inks. */
function lookOfLight([r, g, b]: readonly [r: number, g: number, b: number]): Lab {
  const [c, m, y] = [1 - r, 1 - g, 1 - b];
  return look([c, m, y, Math.min(c, m, y)]);
}

const lab8 = (lab: Lab) => encoded(lab, 2.55, 1);
const lab16 = (lab: Lab) => encoded(lab, 652.8, 256);
const labFlexible = (lab: Lab) => encoded(lab, 655.35, 257);

function encoded([l, a, b]: Lab, lightness: number, color: number): number[] {
  return [l * lightness, (a + 128) * color, (b + 128) * color].map(Math.round);
}

function xyz16([l, a, b]: Lab): number[] {
  const y = (l + 16) / 116;
  const cubed = (value: number) =>
    value > 24 / 116 ? value ** 3 : (value - 16 / 116) * (108 / 841);
  const light = [cubed(y + a / 500) * 0.9642, cubed(y), cubed(y - b / 200) * 0.82491];
  return light.map((value) => Math.round(Math.min(Math.max(value, 0), 1) * 32_768));
}

type Spaced = { channels: number; nodes(encode: (lab: Lab) => number[]): number[] };
const steps = Array.from({ length: SIDE }, (_, at) => at / (SIDE - 1));
const cube = <T>(of: (a: number, b: number, c: number) => T[]) =>
  steps.flatMap((a) => steps.flatMap((b) => steps.flatMap((c) => of(a, b, c))));
const spaces = {
  CMYK: {
    channels: 4,
    nodes: (encode) => cube((c, m, y) => steps.flatMap((k) => encode(look([c, m, y, k])))),
  },
  'RGB ': { channels: 3, nodes: (encode) => cube((r, g, b) => encode(lookOfLight([r, g, b]))) },
} satisfies Record<string, Spaced>;

/**
 * The curves are not linear, as with dots that spread on paper; those of the colors bend slightly,
 * too.
 */
function fixedTable(space: Space, bytes: 1 | 2, encode: (lab: Lab) => number[]): Buffer {
  const { channels, nodes } = spaces[space];
  const head = Buffer.alloc(bytes === 1 ? 48 : 52);
  head.write(bytes === 1 ? 'mft1' : 'mft2', 'latin1');
  head.set([channels, 3, SIDE], 8);
  for (const at of [12, 28, 44]) head.writeInt32BE(65_536, at);
  const entries = bytes === 1 ? 256 : 33;
  if (bytes === 2) {
    head.writeUInt16BE(entries, 48);
    head.writeUInt16BE(entries, 50);
  }
  const max = 256 ** bytes - 1;
  const curve = (exponent: number) =>
    Array.from({ length: entries }, (_, at) => Math.round((at / (entries - 1)) ** exponent * max));
  const inputs = [0.8, 0.9, 1, 1.2].slice(0, channels).flatMap(curve);
  const outputs = [1.02, 1, 1].flatMap(curve);
  return Buffer.concat([head, numbers([...inputs, ...nodes(encode), ...outputs], bytes)]);
}

/** Has all five elements of lutAToB. The last curves do not compensate for the matrix. */
function flexibleTable(space: Space): Buffer {
  const { channels, nodes } = spaces[space];
  const curves = (kinds: readonly Buffer[]) => Buffer.concat(kinds);
  const b = curves([parametric(0, [1]), sampled([0, 65_535]), parametric(0, [1])]);
  const matrix = Buffer.concat([0.99, 0, 0, 0, 1, 0, 0, 0, 1, 0.004, 0, 0].map(fixed));
  const m = curves([parametric(0, [1.02]), parametric(0, [1]), parametric(0, [1])]);
  const a = curves(
    [
      sampled([0, 20_000, 43_000, 65_535]),
      parametric(0, [1.1]),
      parametric(3, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.040_45]),
      sampled([]),
    ].slice(0, channels),
  );
  const head = Buffer.alloc(32);
  head.write('mAB ', 'latin1');
  head.set([channels, 3], 8);
  const table = Buffer.alloc(20);
  table.fill(SIDE, 0, channels);
  table[16] = 2;
  const whole = numbers(nodes(labFlexible), 2);
  const parts = [b, matrix, m, padded(Buffer.concat([table, whole])), a];
  let start = head.length;
  for (const [index, part] of parts.entries()) {
    head.writeUInt32BE(start, 12 + index * 4);
    start += part.length;
  }
  return Buffer.concat([head, ...parts]);
}

function numbers(values: readonly number[], bytes: 1 | 2): Buffer {
  const written = Buffer.alloc(values.length * bytes);
  for (const [at, value] of values.entries()) {
    written.writeUIntBE(Math.min(Math.max(value, 0), 256 ** bytes - 1), at * bytes, bytes);
  }
  return padded(written);
}

function sampled(values: readonly number[]): Buffer {
  const head = Buffer.from('curv\0\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt32BE(values.length, 8);
  return padded(Buffer.concat([head, numbers(values, 2).subarray(0, values.length * 2)]));
}

function parametric(kind: number, parameters: readonly number[]): Buffer {
  const head = Buffer.from('para\0\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt16BE(kind, 8);
  return Buffer.concat([head, ...parameters.map(fixed)]);
}

function fixed(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(Math.round(value * 65_536));
  return bytes;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}
