/**
 * Regenerates the pictures of docs/transforms.md: starts the product, uploads the two drawings, and requests every URL
 * that the page shows.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type Prepare, type Product, startProduct } from './transforms/product.ts';
import { type Part, type PresetWish, readPage } from './transforms/read-page.ts';

const docs = new URL('../../docs/', import.meta.url);

const leaveEmpty: Prepare = async () => undefined;

/** The pictures by their file names in docs/. */
export async function makePictures(prepare = leaveEmpty): Promise<Map<string, Buffer>> {
  const { parts, presets } = readPage(readFileSync(new URL('transforms.md', docs), 'utf8'));
  const sources = await withProduct(startProduct(undefined, prepare), makeSources);
  const pictures = new Map<string, Buffer>();
  // Each part needs a new start: delivery caches for 30 s how a project was at its first image.
  for (const part of parts) {
    await withProduct(startProduct(part.declared, prepare), async (product) => {
      for (const { slug, bytes, type } of sources) await product.upload(slug, bytes, type);
      if (part.declared?.includes('defaultWatermarkPresetRef')) await product.hasDefaultWatermark();
      for (const [file, picture] of await showPart(product, part, presets))
        pictures.set(file, picture);
    });
  }
  return pictures;
}

/** Creates the presets that the part names first. */
async function showPart(
  product: Product,
  { examples }: Part,
  presets: readonly PresetWish[],
): Promise<[string, Buffer][]> {
  const ids = new Map<string, string>();
  for (const preset of presets) {
    const isNamed = examples.some(({ path }) => path.includes(`<${preset.name}>`));
    if (isNamed) ids.set(preset.name, await product.putPreset(preset));
  }
  const shown: [string, Buffer][] = [];
  for (const { path, file } of examples) {
    const named = path.replace(/<([^>]+)>/, (_, name: string) => ids.get(name) ?? name);
    shown.push([file, await product.deliver(named)]);
  }
  return shown;
}

type Source = { slug: string; bytes: Buffer; type: string };

/** The product's own transforms turn the drawings into the page's photograph, logo and banner. */
async function makeSources(product: Product): Promise<Source[]> {
  for (const name of ['harbour', 'logo']) {
    const drawing = readFileSync(new URL(`pictures/${name}.svg`, docs));
    await product.upload(`${name}.svg`, drawing, 'image/svg+xml');
  }
  const wishes = [
    ['harbour.jpg', '/resize/1200x800/format/jpeg/quality/95/f/harbour.svg', 'image/jpeg'],
    ['logo.png', '/resize/96x40/f/logo.svg', 'image/png'],
    ['banner.png', '/resize/600x250/f/logo.svg', 'image/png'],
  ] as const;
  const sources: Source[] = [];
  for (const [slug, path, type] of wishes) {
    sources.push({ slug, bytes: await product.deliver(path), type });
  }
  return sources;
}

async function withProduct<Result>(
  starting: Promise<Product>,
  work: (product: Product) => Promise<Result>,
): Promise<Result> {
  const product = await starting;
  try {
    return await work(product);
  } finally {
    await product.end();
  }
}

// With --check it writes nothing: test/docs/transforms.test.ts compares.
if (import.meta.main && !process.argv.includes('--check')) {
  for (const [file, bytes] of await makePictures()) writeFileSync(new URL(file, docs), bytes);
}
