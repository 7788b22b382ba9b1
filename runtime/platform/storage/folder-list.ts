/** Lists the objects of a folder in key order, and reads only folders that can hold a wanted key. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListedObject } from './bucket.ts';
import { ignore, TRAILER_BYTES } from './object-file.ts';

type Wanted = { prefix: string; after?: string; limit: number };

export async function listFolder(folder: string, wanted: Wanted): Promise<ListedObject[]> {
  // Throws when the bucket's own folder is missing; folders below it may disappear at any time.
  await readdir(folder);
  const found: ListedObject[] = [];
  if (wanted.limit < 1) return found;
  for await (const key of walk(folder, '', wanted)) {
    const file = await stat(join(folder, key)).catch(ignore('ENOENT', 'ENOTDIR'));
    if (file === undefined) continue;
    const sizeBytes = Math.max(0, file.size - TRAILER_BYTES);
    found.push({ key, size_bytes: sizeBytes, modified_at: file.mtime });
    if (found.length === wanted.limit) break;
  }
  return found;
}

async function* walk(folder: string, parent: string, wanted: Wanted): AsyncGenerator<string> {
  for (const key of await namesOf(folder, parent)) {
    if (!key.endsWith('/')) {
      if (key.startsWith(wanted.prefix) && key > (wanted.after ?? '')) yield key;
    } else if (mayHold(key, wanted)) {
      yield* walk(folder, key, wanted);
    }
  }
}

/**
 * Folder names are sorted with their trailing slash, which is where their objects stand in key
 * order.
 */
async function namesOf(folder: string, parent: string): Promise<string[]> {
  const entries = await readdir(join(folder, parent), { withFileTypes: true }).catch(
    ignore('ENOENT', 'ENOTDIR'),
  );
  return (entries ?? [])
    .filter((entry) => !entry.name.startsWith('.'))
    .map((entry) => `${parent}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort(byCodeUnit);
}

function byCodeUnit(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function mayHold(folderKey: string, { prefix, after = '' }: Wanted): boolean {
  const isOnTheWay = folderKey.startsWith(prefix) || prefix.startsWith(folderKey);
  return isOnTheWay && (folderKey > after || after.startsWith(folderKey));
}
