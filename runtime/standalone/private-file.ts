/**
 * A file for its owner's eyes alone. Written beside its place, flushed and renamed: a crash leaves the old one or the
 * new one, never half of either.
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

/** Short whatever the length of the name, which may be all that a file system takes; of each file its own. */
function besideOf(path: string): string {
  const hash = createHash('sha256').update(basename(path)).digest('hex');
  return join(dirname(path), `.${hash.slice(0, 32)}.new`);
}
