/**
 * Writes a file that only its owner can read. It is written beside its final path, flushed and renamed: a crash leaves
 * the old file or the new one, never half of either.
 */
import { createHash } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export async function writePrivateFile(path: string, content: object): Promise<void> {
  const beside = besideOf(path);
  const text = `${JSON.stringify(content, null, 2)}\n`;
  await writeFile(beside, text, { mode: 0o600, flush: true });
  await rename(beside, path);
}

/**
 * The temporary path, unique per file. Its name has a fixed short length, because the file's own
 * name may already be as long as the file system allows.
 */
function besideOf(path: string): string {
  const hash = createHash('sha256').update(basename(path)).digest('hex');
  return join(dirname(path), `.${hash.slice(0, 32)}.new`);
}
