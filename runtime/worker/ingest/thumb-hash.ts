/**
 * ThumbHash: an image in about 25 bytes, shown while the real image loads. A cosine transform of luminance, two color
 * axes and, if there is one, alpha, with four bits per coefficient.
 */

export type SmallPicture = { width: number; height: number; rgba: Uint8Array };

type Channel = { steady: number; waves: number[]; scale: number };

const LUMINANCE_WAVES = { opaque: 7, transparent: 5 };
const COLOR_WAVES = 3;
const ALPHA_WAVES = 5;

/** For an image of at most 100 pixels per side. */
export function thumbHash({ width, height, rgba }: SmallPicture): Buffer {
  const { luminance, yellow, red, alpha, has_alpha } = readAxes(rgba);
  const longest = has_alpha ? LUMINANCE_WAVES.transparent : LUMINANCE_WAVES.opaque;
  const across = Math.max(1, Math.round((longest * width) / Math.max(width, height)));
  const down = Math.max(1, Math.round((longest * height) / Math.max(width, height)));
  const size = { width, height };
  const l = transform(luminance, size, [Math.max(3, across), Math.max(3, down)]);
  const p = transform(yellow, size, [COLOR_WAVES, COLOR_WAVES]);
  const q = transform(red, size, [COLOR_WAVES, COLOR_WAVES]);
  const a = has_alpha ? transform(alpha, size, [ALPHA_WAVES, ALPHA_WAVES]) : undefined;
  const isLandscape = width > height;
  const head24 =
    Math.round(63 * l.steady) |
    (Math.round(31.5 + 31.5 * p.steady) << 6) |
    (Math.round(31.5 + 31.5 * q.steady) << 12) |
    (Math.round(31 * l.scale) << 18) |
    (Number(has_alpha) << 23);
  const head16 =
    (isLandscape ? down : across) |
    (Math.round(63 * p.scale) << 3) |
    (Math.round(63 * q.scale) << 9) |
    (Number(isLandscape) << 15);
  const head = Buffer.alloc(5);
  head.writeUIntLE(head24, 0, 3);
  head.writeUIntLE(head16, 3, 2);
  const alphaHead =
    a === undefined ? [] : [Math.round(15 * a.steady) | (Math.round(15 * a.scale) << 4)];
  const waves = [l, p, q, ...(a === undefined ? [] : [a])].flatMap((channel) => channel.waves);
  return Buffer.concat([head, Buffer.from(alphaHead), packNibbles(waves)]);
}

/**
 * Luminance, yellow-blue, red-green and alpha of each pixel; transparent ones take the mean color.
 */
function readAxes(rgba: Uint8Array) {
  const pixels = Array.from({ length: rgba.length / 4 }, (_, index) => {
    const [r = 0, g = 0, b = 0, a = 0] = rgba.subarray(index * 4, index * 4 + 4);
    return { r: r / 255, g: g / 255, b: b / 255, a: a / 255 };
  });
  const weight = pixels.reduce((sum, { a }) => sum + a, 0);
  const mean = (name: 'r' | 'g' | 'b') =>
    weight === 0 ? 0 : pixels.reduce((sum, pixel) => sum + pixel[name] * pixel.a, 0) / weight;
  const [red, green, blue] = [mean('r'), mean('g'), mean('b')];
  const seen = pixels.map(({ r, g, b, a }) => ({
    r: red * (1 - a) + a * r,
    g: green * (1 - a) + a * g,
    b: blue * (1 - a) + a * b,
  }));
  return {
    luminance: seen.map(({ r, g, b }) => (r + g + b) / 3),
    yellow: seen.map(({ r, g, b }) => (r + g) / 2 - b),
    red: seen.map(({ r, g }) => r - g),
    alpha: pixels.map(({ a }) => a),
    has_alpha: weight < pixels.length,
  };
}

/** The lower triangle of the cosine transform, coefficients mapped to 0..1 around one half. */
function transform(
  samples: readonly number[],
  { width, height }: { width: number; height: number },
  [across, down]: readonly [number, number],
): Channel {
  const waves: number[] = [];
  let steady = 0;
  for (let y = 0; y < down; y += 1) {
    for (let x = 0; x * down < across * (down - y); x += 1) {
      const strength = project(samples, { width, height }, [x, y]);
      if (x === 0 && y === 0) steady = strength;
      else waves.push(strength);
    }
  }
  const scale = Math.max(0, ...waves.map(Math.abs));
  const map = (wave: number) => (scale === 0 ? wave : 0.5 + (0.5 / scale) * wave);
  return { steady, scale, waves: waves.map(map) };
}

function project(
  samples: readonly number[],
  { width, height }: { width: number; height: number },
  [x, y]: readonly [number, number],
): number {
  const cosines = Array.from({ length: width }, (_, at) =>
    Math.cos((Math.PI / width) * x * (at + 0.5)),
  );
  let sum = 0;
  for (let row = 0; row < height; row += 1) {
    const cosine = Math.cos((Math.PI / height) * y * (row + 0.5));
    for (let column = 0; column < width; column += 1) {
      sum += (samples[row * width + column] ?? 0) * (cosines[column] ?? 0) * cosine;
    }
  }
  return sum / (width * height);
}

function packNibbles(values: readonly number[]): Buffer {
  const packed = Buffer.alloc(Math.ceil(values.length / 2));
  for (const [index, value] of values.entries()) {
    const nibble = Math.round(15 * value) << (index % 2 === 0 ? 0 : 4);
    packed[index >> 1] = (packed[index >> 1] ?? 0) | nibble;
  }
  return packed;
}
