/** Decodes a ThumbHash (Evan Wallace, public domain) into pixels, shown in place of an image until it has loaded. */

export type Pixels = {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8ClampedArray;
};

/** Undefined for an invalid ThumbHash. */
export function decodeThumbHash(base64: string): Pixels | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
    return bytes.length < 5 ? undefined : draw(readHash(bytes));
  } catch {
    return undefined;
  }
}

type Hash = {
  readonly l_dc: number;
  readonly p_dc: number;
  readonly q_dc: number;
  readonly a_dc: number;
  readonly l: Channel;
  readonly p: Channel;
  readonly q: Channel;
  readonly a: Channel | null;
  readonly ratio: number;
};
type Channel = { readonly nx: number; readonly ny: number; readonly ac: readonly number[] };

const SIDE = 32;

function readHash(bytes: Uint8Array): Hash {
  const at = (index: number) => bytes[index] ?? 0;
  const header = at(0) | (at(1) << 8) | (at(2) << 16);
  const tail = at(3) | (at(4) << 8);
  const hasAlpha = header >> 23;
  const isLandscape = tail >> 15;
  const few = hasAlpha ? 5 : 7;
  const lx = Math.max(3, isLandscape ? few : tail & 7);
  const ly = Math.max(3, isLandscape ? tail & 7 : few);
  let index = 0;
  const start = hasAlpha ? 6 : 5;
  const channel = (nx: number, ny: number, scale: number): Channel => {
    const ac: number[] = [];
    for (let cy = 0; cy < ny; cy += 1) {
      for (let cx = cy ? 0 : 1; cx * ny < nx * (ny - cy); cx += 1) {
        ac.push((((at(start + (index >> 1)) >> ((index & 1) << 2)) & 15) / 7.5 - 1) * scale);
        index += 1;
      }
    }
    return { nx, ny, ac };
  };
  const l = channel(lx, ly, ((header >> 18) & 31) / 31);
  const p = channel(3, 3, (((tail >> 3) & 63) / 63) * 1.25);
  const q = channel(3, 3, (((tail >> 9) & 63) / 63) * 1.25);
  return {
    l_dc: (header & 63) / 63,
    p_dc: ((header >> 6) & 63) / 31.5 - 1,
    q_dc: ((header >> 12) & 63) / 31.5 - 1,
    a_dc: hasAlpha ? (at(5) & 15) / 15 : 1,
    l,
    p,
    q,
    a: hasAlpha ? channel(5, 5, (at(5) >> 4) / 15) : null,
    ratio: lx / ly,
  };
}

function draw(hash: Hash): Pixels {
  const width = Math.round(hash.ratio > 1 ? SIDE : SIDE * hash.ratio);
  const height = Math.round(hash.ratio > 1 ? SIDE / hash.ratio : SIDE);
  const rgba = new Uint8ClampedArray(width * height * 4);
  const across = cosines(width);
  for (const [y, down] of cosines(height).entries()) {
    for (const [x, right] of across.entries()) {
      rgba.set(colorAt(hash, right, down), (y * width + x) * 4);
    }
  }
  return { width, height, rgba };
}

/** The most waves of a channel along one side. */
const WAVES_MAX = 7;

/** The height of each wave at each pixel along a side. */
function cosines(pixels: number): Waves[] {
  const at = (pixel: number, wave: number) => Math.cos((Math.PI * (pixel + 0.5) * wave) / pixels);
  return Array.from({ length: pixels }, (_, pixel) =>
    Array.from({ length: WAVES_MAX }, (_wave, wave) => at(pixel, wave)),
  );
}

type Waves = readonly number[];

function colorAt(hash: Hash, x: Waves, y: Waves): number[] {
  const l = hash.l_dc + waves(hash.l, x, y);
  const p = hash.p_dc + waves(hash.p, x, y);
  const q = hash.q_dc + waves(hash.q, x, y);
  const a = hash.a === null ? 1 : hash.a_dc + waves(hash.a, x, y);
  const b = l - (2 / 3) * p;
  const r = (3 * l - b + q) / 2;
  return [r, r - q, b, a].map((part) => 255 * part);
}

function waves({ nx, ny, ac }: Channel, x: Waves, y: Waves): number {
  let sum = 0;
  let index = 0;
  for (let cy = 0; cy < ny; cy += 1) {
    for (let cx = cy ? 0 : 1; cx * ny < nx * (ny - cy); cx += 1) {
      sum += 2 * (ac[index] ?? 0) * (x[cx] ?? 0) * (y[cy] ?? 0);
      index += 1;
    }
  }
  return sum;
}
