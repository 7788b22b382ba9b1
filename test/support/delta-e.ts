/** Color differences (CIE 1976) between 8-bit sRGB samples. People notice differences above about 2. */

export function deltaE(one: Uint8Array, other: Uint8Array): number[] {
  if (one.length !== other.length) throw new Error(`${one.length} samples and ${other.length}`);
  const differences: number[] = [];
  for (let at = 0; at < one.length; at += 3) {
    const [a, b] = [labAt(one, at), labAt(other, at)];
    differences.push(Math.hypot(a.l - b.l, a.a - b.a, a.b - b.b));
  }
  return differences.sort((x, y) => x - y);
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function labAt(rgb: Uint8Array, at: number): { l: number; a: number; b: number } {
  const [r, g, b] = [0, 1, 2].map((channel) => linear((rgb[at + channel] ?? 0) / 255)) as Three;
  // sRGB to XYZ, relative to the D65 white point.
  const x = root((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const y = root(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = root((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return { l: 116 * y - 16, a: 500 * (x - y), b: 200 * (y - z) };
}

type Three = [number, number, number];

function linear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function root(value: number): number {
  return value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116;
}
