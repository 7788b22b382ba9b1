/**
 * A file for its owner's eyes alone. Written beside its place, flushed and renamed: a crash leaves the old one or the
 * new one, never half of either.
 */
import { rename, writeFile } from 'node:fs/promises';

export async function writePrivateFile(path: string, content: object): Promise<void> {
  const beside = `${path}.new`;
  const text = `${JSON.stringify(content, null, 2)}\n`;
  await writeFile(beside, text, { mode: 0o600, flush: true });
  await rename(beside, path);
}
