/**
 * The assets of the picker's page, by fixed names: its modules, with types stripped here, and its style sheet. There is
 * no bundler. Spec: Library sessions and the picker.
 */
import { readFile } from 'node:fs/promises';
import { ServiceError } from '../../core/errors.ts';
import { EMBED_ASSET_CACHE_SECONDS } from '../../core/limits.ts';
import { stripTypes } from '../../platform/strip-types.ts';
import { cachedPages } from '../cached-pages.ts';
import { compressedPage, type Page } from '../page.ts';

/** How long a browser may keep an asset: short, so that a release takes effect soon. */
export const ASSET_CACHE_CONTROL = `public, max-age=${EMBED_ASSET_CACHE_SECONDS}`;

/** Source file by the name that the browser requests. */
export const pickerAssets: ReadonlyMap<string, string> = new Map(
  [
    'element.ts',
    'file-list.ts',
    'grid-keys.ts',
    'grid.ts',
    'host-channel.ts',
    'library-api.ts',
    'picker.css',
    'picker.ts',
    'put-file.ts',
    'random-name.ts',
    'receive-files.ts',
    'retry-call.ts',
    'selection.ts',
    'session.ts',
    'texts.ts',
    'thumb-hash.ts',
    'tile.ts',
    'upload-panel.ts',
    'uploads.ts',
    'view.ts',
  ].map((file) => [file.replace(/\.ts$/, '.js'), file]),
);

const FOLDER = new URL('../../web/picker/', import.meta.url);

/** Serves assets from a folder, reading each once; a failed read is retried at the next request. */
export function createPickerAssets(folder: URL = FOLDER): (name: string) => Promise<Page> {
  const assetOf = cachedPages((file: string) => readAsset(new URL(file, folder)));
  return (name) => {
    const file = pickerAssets.get(name);
    if (file === undefined) throw new ServiceError('not_found');
    return assetOf(file);
  };
}

async function readAsset(file: URL): Promise<Page> {
  try {
    const source = await readFile(file, 'utf8');
    const isModule = file.pathname.endsWith('.ts');
    const bytes = Buffer.from(isModule ? scriptOf(source) : source);
    const headers = { 'content-type': isModule ? SCRIPT : STYLE };
    return await compressedPage({ headers, bytes });
  } catch (cause) {
    throw new ServiceError('embed_unavailable', { cause });
  }
}

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** Imports use the .js names that the browser requests. */
function scriptOf(source: string): string {
  return stripTypes(source).replaceAll(/(from '\.\/[a-z-]+)\.ts'/g, "$1.js'");
}
