/**
 * Writes generated files, by their paths from the project root, and removes those of `present` that are not among them.
 * With --check it changes nothing, and fails naming each stale file.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export function writeGenerated(
  wanted: ReadonlyMap<string, string>,
  present: readonly string[] = [],
): void {
  for (const path of new Set([...wanted.keys(), ...present])) {
    const file = join(root, path);
    const text = wanted.get(path);
    if (text === (existsSync(file) ? readFileSync(file, 'utf8') : undefined)) continue;
    if (process.argv.includes('--check')) {
      console.error(`${path} is stale: run make generate`);
      process.exitCode = 1;
    } else if (text === undefined) {
      rmSync(file);
    } else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
}

/** The files in a folder and its subfolders, by their paths from the project root. */
export function listGenerated(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
