/**
 * Reproducible images for tests: photograph-like pixels from a seeded generator, and valid and hostile files of many
 * forms.
 */
import { crc32 } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';

export type Picture = { data: Buffer; width: number; height: number; channels: 1 | 2 | 3 | 4 };

/** Gradients, soft shapes and sensor noise, which compress and scale like a photograph. */
export function photograph(width: number, height: number, seed = 1): Picture {
  const data = Buffer.alloc(width * height * 3);
  const random = seededRandom(seed);
  const shapes = Array.from(
    { length: 12 },
    (): Shape => ({
      x: random() * width,
      y: random() * height,
      radius: (0.05 + random() * 0.2) * Math.min(width, height),
      color: [random() * 160 - 80, random() * 160 - 80, random() * 160 - 80],
    }),
  );
  // An image has millions of pixels: what its rows or columns share is computed once.
  const sines = Float64Array.from({ length: width }, (_, x) => Math.sin(x / 7));
  const cosines = Float64Array.from({ length: width }, (_, x) => Math.cos(x / 7));
  let at = 0;
  const put = (value: number) => {
    data[at++] = clamp(value + random() * 6);
  };
  for (let y = 0; y < height; y += 1) {
    const colors = colorsOfRow(shapes, y, width);
    const wave = 14 * Math.cos(y / 5);
    const [sine, cosine] = [wave * Math.sin(y / 11), wave * Math.cos(y / 11)];
    for (let x = 0; x < width; x += 1) {
      const color = colors[x] ?? NO_COLOR;
      const base = 60 + (sines[x] ?? 0) * cosine + (cosines[x] ?? 0) * sine;
      put(base + 110 * (x / width) + color[0]);
      put(base + 110 * (y / height) + color[1]);
      put(base + 110 * (1 - x / width) + color[2]);
    }
  }
  return { data, width, height, channels: 3 };
}

type Shape = { x: number; y: number; radius: number; color: [number, number, number] };

const NO_COLOR: Shape['color'] = [0, 0, 0];

/** What the first shape at each pixel adds to it. */
function colorsOfRow(shapes: readonly Shape[], y: number, width: number): Shape['color'][] {
  const colors = new Array<Shape['color']>(width).fill(NO_COLOR);
  for (const { x, radius, color, y: middle } of shapes.toReversed()) {
    const half = Math.sqrt(Math.max(radius ** 2 - (y - middle) ** 2, 0));
    const [from, to] = [Math.floor(x - half) + 1, Math.ceil(x + half)];
    colors.fill(color, Math.max(from, 0), Math.max(to, 0));
  }
  return colors;
}

function clamp(value: number): number {
  if (value < 0) return 0;
  return value > 255 ? 255 : Math.round(value);
}

/** Sharp-edged blocks of few colors, as in screenshots and drawings. */
export function drawing(width: number, height: number): Picture {
  const data = Buffer.alloc(width * height * 3);
  const colors = [0xffffff, 0x1b4f72, 0xe74c3c, 0xf1c40f, 0x111111];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const block = Math.floor(x / 16) * 7 + Math.floor(y / 16) * 3;
      data.writeUIntBE(colors[block % colors.length] ?? 0, (y * width + x) * 3, 3);
    }
  }
  return { data, width, height, channels: 3 };
}

/** A photograph with a round alpha mask with soft edges. */
export function cutOut(width: number, height: number): Picture {
  const base = photograph(width, height);
  const data = Buffer.alloc(width * height * 4);
  const radius = Math.min(width, height) / 2;
  for (let index = 0; index < width * height; index += 1) {
    for (let band = 0; band < 3; band += 1) {
      data[index * 4 + band] = base.data[index * 3 + band] ?? 0;
    }
    const [x, y] = [(index % width) - width / 2, Math.floor(index / width) - height / 2];
    data[index * 4 + 3] = clamp((radius - Math.sqrt(x * x + y * y)) * 16);
  }
  return { data, width, height, channels: 4 };
}

/** Four quarters: red, green, blue and white, row by row from the top left. */
export function quarters(width: number, height: number): Picture {
  const data = Buffer.alloc(width * height * 3);
  const colors = [0xff0000, 0x00ff00, 0x0000ff, 0xffffff];
  for (let index = 0; index < width * height; index += 1) {
    const isRight = index % width >= width / 2;
    const isLow = Math.floor(index / width) >= height / 2;
    data.writeUIntBE(colors[(isLow ? 2 : 0) + (isRight ? 1 : 0)] ?? 0, index * 3, 3);
  }
  return { data, width, height, channels: 3 };
}

/** Opens the raw pixels with sharp. */
export function over({ data, width, height, channels }: Picture): Sharp {
  return sharp(data, { raw: { width, height, channels } });
}

/** Noise and ramps in three channels of 16 bits. */
export async function deepPng(width: number, height: number): Promise<Buffer> {
  const random = seededRandom(16);
  const samples = Uint16Array.from({ length: width * height * 3 }, (_, index) =>
    Math.floor(((index % 65_521) + random() * 4000) % 65_536),
  );
  return sharp(samples, { raw: { width, height, channels: 3 } })
    .toColourspace('rgb16')
    .png()
    .toBuffer();
}

/** Turns a PNG into an APNG, which looks still to readers without APNG support. */
export function animatedPng(png: Buffer, frames = 2): Buffer {
  const control = Buffer.alloc(8);
  control.writeUInt32BE(frames);
  const headerEnd = 8 + 12 + 13;
  return Buffer.concat([
    png.subarray(0, headerEnd),
    pngChunk('acTL', control),
    png.subarray(headerEnd),
  ]);
}

export function pngChunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** A PNG that declares this size and contains almost no data. */
export function pngBomb(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', Buffer.from('789c6360', 'hex')),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export async function animatedWebp(width: number, height: number): Promise<Buffer> {
  const frames = await Promise.all(
    [1, 2].map((seed) =>
      over(photograph(width, height, seed))
        .png()
        .toBuffer(),
    ),
  );
  return sharp(frames, { join: { animated: true } })
    .webp({ loop: 0, delay: [100, 100] })
    .toBuffer();
}

/** A JPEG with camera metadata: GPS position, time, orientation and camera. */
export async function cameraJpeg(picture: Picture, orientation = 1): Promise<Buffer> {
  return over(picture)
    .jpeg({ quality: 90, chromaSubsampling: '4:4:4' })
    .withExif({
      IFD0: { Make: 'Tintype', Model: 'Test' },
      IFD2: { DateTimeOriginal: '2024:05:06 07:08:09', OffsetTimeOriginal: '+02:00' },
      IFD3: {
        GPSLatitudeRef: 'S',
        GPSLatitude: '33/1 51/1 2400/100',
        GPSLongitudeRef: 'E',
        GPSLongitude: '151/1 12/1 3600/100',
      },
    })
    .withMetadata({ orientation })
    .toBuffer();
}

/** Returns numbers from 0 to 1, the same sequence for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Peak signal-to-noise ratio, in dB, of two equally long sequences of 8-bit samples. */
export function psnr(left: Buffer, right: Buffer): number {
  if (left.length !== right.length) throw new RangeError('the pictures differ in size');
  let sum = 0;
  for (let at = 0; at < left.length; at += 1) sum += ((left[at] ?? 0) - (right[at] ?? 0)) ** 2;
  return sum === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10((255 ** 2 * left.length) / sum);
}
