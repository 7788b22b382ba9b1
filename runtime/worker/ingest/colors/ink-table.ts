/**
 * What a printer profile says about the look of its inks: the perceptual table from four inks to colors (`A2B0`), with
 * the curves before and behind it. Spec: What the service does.
 */
import { readIccHead, readIccTags } from '../metadata/icc-tags.ts';
import { type Curve, readCurves, sampledCurve } from './icc-curve.ts';

export type InkTable = {
  /** Applied before the nodes, one curve per ink. */
  inputs: readonly Curve[];
  /** Grid points along each ink. */
  sides: readonly number[];
  /** Three encoded values per node; the last ink varies fastest. */
  nodes: Float32Array;
  /** Applied behind the nodes, in order. */
  stages: readonly Stage[];
  /** The encoding of the stages' results. */
  encoding: ColorEncoding;
  /**
   * Whether readers assume the standard black for this profile instead of reading it from the
   * table.
   */
  has_agreed_black: boolean;
};

export type Stage = { curves: readonly Curve[] } | { matrix: readonly number[] };
export type ColorEncoding = 'lab' | 'lab-16' | 'xyz';

const INKS = 4;
const COLORS = 3;
const VERSION_4 = 4;
const MATRIX_NUMBERS = 12;

/** Undefined when the profile has no such table, or an incomplete one. */
export function readInkTable(profile: Buffer): InkTable | undefined {
  const head = readIccHead(profile);
  if (head?.color_space !== 'CMYK') return undefined;
  try {
    const tag = readIccTags(profile).get('A2B0');
    const shape = tag && readShape(tag);
    if (shape === undefined) return undefined;
    const { is_16_bit, ...table } = shape;
    const lab = is_16_bit ? 'lab-16' : 'lab';
    return {
      ...table,
      encoding: head.connection_space === 'XYZ ' ? 'xyz' : lab,
      has_agreed_black: (profile[8] ?? 0) >= VERSION_4,
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type Shape = Pick<InkTable, 'inputs' | 'sides' | 'nodes' | 'stages'> & { is_16_bit: boolean };

function readShape(tag: Buffer): Shape | undefined {
  if (tag[8] !== INKS || tag[9] !== COLORS) return undefined;
  switch (tag.toString('latin1', 0, 4)) {
    case 'mft1':
      return readFixed(tag, { bytes: 1, start: 48, entries: [256, 256] });
    case 'mft2':
      return readFixed(tag, {
        bytes: 2,
        start: 52,
        entries: [tag.readUInt16BE(48), tag.readUInt16BE(50)],
      });
    case 'mAB ':
      return readFlexible(tag);
    default:
      return undefined;
  }
}

type Layout = { bytes: 1 | 2; start: number; entries: readonly [number, number] };

/**
 * The two older table types: curves, nodes and curves without a gap. Their matrix applies only to
 * XYZ inputs.
 */
function readFixed(tag: Buffer, { bytes, start, entries }: Layout): Shape {
  let at = start;
  const take = (count: number) => {
    const values = readSamples(tag, { at, count, bytes });
    at += count * bytes;
    return values;
  };
  const [before, behind] = entries;
  const side = tag.readUInt8(10);
  const inputs = Array.from({ length: INKS }, () => sampledCurve(take(before)));
  const nodes = take(side ** INKS * COLORS);
  const curves = Array.from({ length: COLORS }, () => sampledCurve(take(behind)));
  return withSides({
    inputs,
    nodes,
    sides: Array.from({ length: INKS }, () => side),
    stages: [{ curves }],
    is_16_bit: bytes === 2,
  });
}

/** The table type of version 4: up to five parts, at the offsets given in the tag. */
function readFlexible(tag: Buffer): Shape | undefined {
  const [b = 0, matrix = 0, m = 0, table = 0, a = 0] = [12, 16, 20, 24, 28].map((at) =>
    tag.readUInt32BE(at),
  );
  if (table === 0 || a === 0 || b === 0) return undefined;
  const sides = [...tag.subarray(table, table + INKS)];
  const bytes = tag.readUInt8(table + 16) === 1 ? 1 : 2;
  const count = sides.reduce((product, side) => product * side, COLORS);
  const stages: Stage[] = [];
  if (m > 0) stages.push({ curves: readCurves(tag, m, COLORS) });
  if (matrix > 0) stages.push({ matrix: readMatrix(tag, matrix) });
  stages.push({ curves: readCurves(tag, b, COLORS) });
  return withSides({
    inputs: readCurves(tag, a, INKS),
    sides,
    nodes: readSamples(tag, { at: table + 20, count, bytes }),
    stages,
    is_16_bit: false,
  });
}

function withSides(shape: Shape): Shape {
  if (shape.sides.some((side) => side < 2)) throw new RangeError('a table without an extent');
  return shape;
}

function readMatrix(tag: Buffer, start: number): number[] {
  return Array.from(
    { length: MATRIX_NUMBERS },
    (_, index) => tag.readInt32BE(start + index * 4) / 65_536,
  );
}

/** Values in 0..1. Throws RangeError when the tag ends too early. */
function readSamples(
  tag: Buffer,
  { at, count, bytes }: { at: number; count: number; bytes: 1 | 2 },
): Float32Array {
  if (at + count * bytes > tag.length) throw new RangeError('samples behind the end of a tag');
  const samples = new Float32Array(count);
  for (let index = 0; index < count; index += 1) {
    samples[index] =
      bytes === 1 ? tag.readUInt8(at + index) / 255 : tag.readUInt16BE(at + index * 2) / 65_535;
  }
  return samples;
}
