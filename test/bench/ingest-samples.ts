/** Samples to upload: the same photograph as a large image of each type, a large drawing, and a mixed set. */
import sharp, { type Sharp } from 'sharp';
import { findPhotographs } from './photographs.ts';

export type IngestSample = { name: string; content_type: string; bytes: Buffer };

const MEGAPIXEL = 1_000_000;
const ASPECT = 3 / 2;

export async function makeIngestSamples(): Promise<IngestSample[]> {
  const at = await scaled();
  return [
    await sample('12 MP JPEG', 'jpeg', (await at(12)).jpeg({ quality: 90 })),
    await sample('24 MP PNG', 'png', (await at(24)).png()),
    await sample('24 MP WebP', 'webp', (await at(24)).webp({ quality: 85, effort: 2 })),
    await sample('8 MP AVIF', 'avif', (await at(8)).avif({ quality: 60, effort: 0 })),
    { name: '2 MB SVG', content_type: 'image/svg+xml', bytes: drawing(1_990_000) },
  ];
}

/** A typical mix, mostly photographs of a few megapixels. */
export async function makeMixedSet(): Promise<IngestSample[]> {
  const at = await scaled();
  const kinds: [number, () => Promise<IngestSample>][] = [
    [12, async () => sample('2 MP JPEG', 'jpeg', (await at(2)).jpeg({ quality: 85 }))],
    [6, async () => sample('12 MP JPEG', 'jpeg', (await at(12)).jpeg({ quality: 90 }))],
    [6, async () => sample('2 MP PNG', 'png', (await at(2)).png())],
    [6, async () => sample('2 MP WebP', 'webp', (await at(2)).webp({ quality: 85 }))],
    [3, async () => sample('1 MP GIF', 'gif', (await at(1)).gif({ effort: 1 }))],
    [2, async () => sample('2 MP AVIF', 'avif', (await at(2)).avif({ effort: 0 }))],
    [5, async () => ({ name: 'SVG', content_type: 'image/svg+xml', bytes: drawing(20_000) })],
  ];
  const sets = await Promise.all(
    kinds.map(async ([count, make]) => Array<IngestSample>(count).fill(await make())),
  );
  return sets.flat();
}

/** Returns a function that resizes the photograph to a number of megapixels. */
async function scaled(): Promise<(megapixels: number) => Promise<Sharp>> {
  const [photograph] = await findPhotographs();
  if (photograph === undefined) throw new Error('no photograph');
  return async (megapixels) => {
    const width = Math.round(Math.sqrt(megapixels * MEGAPIXEL * ASPECT));
    return sharp(photograph.bytes).resize(width, Math.round(width / ASPECT));
  };
}

async function sample(name: string, format: string, picture: Sharp): Promise<IngestSample> {
  return { name, content_type: `image/${format}`, bytes: await picture.toBuffer() };
}

/** Many small adjacent areas, as in a map. */
function drawing(length: number): Buffer {
  const shapes: string[] = [];
  for (let bytes = 200, at = 0; bytes < length; at += 1) {
    const shape = `<path d="M${outline(at)}z" fill="#${((at * 977) % 4096).toString(16).padStart(3, '0')}"/>`;
    shapes.push(shape);
    bytes += shape.length;
  }
  const body = shapes.slice(0, -1).join('');
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1000">${body}</svg>`,
  );
}

const CORNERS = 24;

function outline(at: number): string {
  const [x, y] = [(at * 13) % 1000, (at * 29) % 1000];
  return Array.from({ length: CORNERS }, (_, corner) => {
    const angle = (2 * Math.PI * corner) / CORNERS;
    const radius = 4 + ((at + corner * 7) % 9);
    return `${(x + radius * Math.cos(angle)).toFixed(2)} ${(y + radius * Math.sin(angle)).toFixed(2)}`;
  }).join('L');
}
