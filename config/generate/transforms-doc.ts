/**
 * Makes the pictures of docs/transforms.md anew: the product is started, takes the two drawings in, and answers every
 * URL that the page shows.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type Product, startProduct } from './transforms/product.ts';
import { readPage } from './transforms/read-page.ts';

const docs = new URL('../../docs/', import.meta.url);

/** The pictures by their names in docs/. */
export async function makePictures(): Promise<Map<string, Buffer>> {
  const { examples, presets } = readPage(readFileSync(new URL('transforms.md', docs), 'utf8'));
  const sources = await withProduct(makeSources);
  // Another start: delivery remembers for 30 s what presets a project had at its first image.
  return withProduct(async (product) => {
    for (const { slug, bytes, type } of sources) await product.upload(slug, bytes, type);
    const ids = new Map<string, string>();
    for (const preset of presets) ids.set(preset.name, await product.putPreset(preset));
    const pictures = new Map<string, Buffer>();
    for (const { path, file } of examples) {
      const named = path.replace(/<([^>]+)>/, (_, name: string) => ids.get(name) ?? name);
      pictures.set(file, await product.deliver(named));
    }
    return pictures;
  });
}

type Source = { slug: string; bytes: Buffer; type: string };

/** Drawings become the photograph, the logo and the banner of the page by the product's own transforms. */
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

async function withProduct<Result>(work: (product: Product) => Promise<Result>): Promise<Result> {
  const product = await startProduct();
  try {
    return await work(product);
  } finally {
    await product.end();
  }
}

if (import.meta.main) {
  for (const [file, bytes] of await makePictures()) writeFileSync(new URL(file, docs), bytes);
}
