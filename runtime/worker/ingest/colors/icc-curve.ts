/** The curves of ICC profiles, which map 0..1 to 0..1: sampled, a power, or parametric. */

export type Curve = (value: number) => number;

export function sampledCurve(samples: Float32Array): Curve {
  const last = samples.length - 1;
  if (last < 1) throw new RangeError('a curve of fewer than two samples');
  return (value) => {
    const place = clamp(value) * last;
    const at = Math.min(Math.floor(place), last - 1);
    const [low = 0, high = 0] = [samples[at], samples[at + 1]];
    return low + (high - low) * (place - at);
  };
}

/** The curves follow one another, each aligned to four bytes. */
export function readCurves(tag: Buffer, start: number, count: number): Curve[] {
  let at = start;
  return Array.from({ length: count }, () => {
    const { curve, bytes } = readCurve(tag, at);
    at += bytes + (-bytes & 3);
    return curve;
  });
}

function readCurve(tag: Buffer, at: number): { curve: Curve; bytes: number } {
  const type = tag.toString('latin1', at, at + 4);
  if (type === 'curv') return readSampled(tag, at);
  if (type === 'para') return readParametric(tag, at);
  throw new RangeError(`a curve of kind ${type}`);
}

function readSampled(tag: Buffer, at: number): { curve: Curve; bytes: number } {
  const count = tag.readUInt32BE(at + 8);
  const bytes = 12 + count * 2;
  if (at + bytes > tag.length) throw new RangeError('a curve behind the end of its tag');
  if (count === 0) return { curve: clamp, bytes };
  if (count === 1) return { curve: power(tag.readUInt16BE(at + 12) / 256), bytes };
  const samples = Float32Array.from(
    { length: count },
    (_, index) => tag.readUInt16BE(at + 12 + index * 2) / 65_535,
  );
  return { curve: sampledCurve(samples), bytes };
}

function power(exponent: number): Curve {
  return (value) => clamp(clamp(value) ** exponent);
}

/** The number of parameters of each function type. */
const PARAMETERS = [1, 3, 4, 5, 7];

function readParametric(tag: Buffer, at: number): { curve: Curve; bytes: number } {
  const kind = tag.readUInt16BE(at + 8);
  const count = PARAMETERS[kind];
  if (count === undefined) throw new RangeError(`a curve by function ${kind}`);
  const numbers = Array.from(
    { length: count },
    (_, index) => tag.readInt32BE(at + 12 + index * 4) / 65_536,
  );
  return { curve: parametric(kind, numbers), bytes: 12 + count * 4 };
}

function parametric(kind: number, numbers: readonly number[]): Curve {
  const [g = 1, a = 1, b = 0, third = 0, d = 0, e = 0, f = 0] = numbers;
  const upper = (value: number) => Math.max(0, a * value + b) ** g;
  switch (kind) {
    case 0:
      return power(g);
    case 1:
      return (value) => clamp(value >= -b / a ? upper(value) : 0);
    case 2:
      return (value) => clamp(value >= -b / a ? upper(value) + third : third);
    case 3:
      return (value) => clamp(value >= d ? upper(value) : third * value);
    default:
      return (value) => clamp(value >= d ? upper(value) + e : third * value + f);
  }
}

function clamp(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}
