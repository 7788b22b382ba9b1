/** One image of the grid: its color, then its ThumbHash, then its thumbnail, above its name and folder. */
import { element } from './element.ts';
import type { LibraryFile } from './library-api.ts';
import { decodeThumbHash } from './thumb-hash.ts';

/** A tile that is only scrolled past loads nothing. */
const SETTLE_MS = 60;

export type Tile = { readonly root: HTMLElement; remove(): void };

type Terms = {
  /** Finds a new URL for a thumbnail whose first one has expired. */
  readonly findThumbnail: (file: LibraryFile) => Promise<string | undefined>;
};

export function createTile(file: LibraryFile, { findThumbnail }: Terms): Tile {
  const picture = element('div', { class: 'picture' });
  picture.style.backgroundColor = file.dominant_color;
  const blurred = drawPlaceholder(file.thumb_hash);
  if (blurred !== undefined) picture.append(blurred);
  const image = element('img', { alt: '', decoding: 'async', draggable: 'false' });
  image.addEventListener('load', () => image.classList.add('loaded'));
  const tryAnother = async () => {
    const other = await findThumbnail(file);
    if (other !== undefined && image.isConnected) image.src = other;
  };
  image.addEventListener('error', () => void tryAnother(), { once: true });
  picture.append(image);
  const timer = window.setTimeout(() => {
    image.src = file.thumbnail_url;
  }, SETTLE_MS);
  const root = element('div', { role: 'option', class: 'tile' }, [
    picture,
    element('span', { class: 'check', 'aria-hidden': 'true' }, ['✓']),
    element('span', { class: 'name', dir: 'auto', title: nameOf(file) }, [nameOf(file)]),
    element('span', { class: 'folder', dir: 'auto', title: file.folder }, [file.folder]),
    element('span', { class: 'unseen' }, [describe(file)]),
  ]);
  return {
    root,
    remove: () => {
      window.clearTimeout(timer);
      // Also stops a running download.
      image.removeAttribute('src');
      root.remove();
    },
  };
}

function nameOf({ title, original_filename, file_slug }: LibraryFile): string {
  return title ?? original_filename ?? file_slug;
}

/** What screen readers say besides name and folder. */
function describe({ alt_text, width, height }: LibraryFile): string {
  const size = `${width} × ${height}`;
  return alt_text === null ? size : `${alt_text}, ${size}`;
}

function drawPlaceholder(hash: string | null): HTMLCanvasElement | undefined {
  const pixels = hash === null ? undefined : decodeThumbHash(hash);
  if (pixels === undefined) return undefined;
  const { width, height, rgba } = pixels;
  const canvas = element('canvas', { width, height, 'aria-hidden': 'true' });
  const data = new ImageData(width, height);
  data.data.set(rgba);
  canvas.getContext('2d')?.putImageData(data, 0, 0);
  return canvas;
}
