/**
 * Which of libvips' loaders may see the bytes: only the one for the type that our own header scan found. A file that is
 * valid as two types at once therefore meets one decoder only.
 */
import sharp from 'sharp';

const loaders: Readonly<Record<string, string>> = {
  'image/jpeg': 'VipsForeignLoadJpegBuffer',
  'image/png': 'VipsForeignLoadPngBuffer',
  'image/webp': 'VipsForeignLoadWebpBuffer',
  'image/avif': 'VipsForeignLoadHeifBuffer',
  'image/gif': 'VipsForeignLoadNsgifBuffer',
  'image/tiff': 'VipsForeignLoadTiffBuffer',
  'image/svg+xml': 'VipsForeignLoadSvgBuffer',
};

/** Types read only by our own code. */
const WITHOUT_LOADER: readonly string[] = ['image/bmp'];

/** From here on no bytes are decoded, except in `withLoaders`. */
export function blockLoaders(): void {
  sharp.block({ operation: ['VipsForeignLoad'] });
}

/** Runs the work while exactly the loaders of these content types are enabled. */
export async function withLoaders<T>(
  contentTypes: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const operation = contentTypes.filter((type) => !WITHOUT_LOADER.includes(type)).map(loaderOf);
  sharp.unblock({ operation });
  try {
    return await work();
  } finally {
    sharp.block({ operation });
  }
}

function loaderOf(contentType: string): string {
  const loader = loaders[contentType];
  if (loader === undefined) throw new Error(`no loader for ${contentType}`);
  return loader;
}
