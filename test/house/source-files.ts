/** The source files of the project and their imports, for tests of the code base. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

export const projectRoot = resolve(import.meta.dirname, '../..');

/** An import of a file. `target` is a path from the project root, or the name of a package. */
export type Import = { file: string; target: string; isPackage: boolean; isTypeOnly: boolean };

export function sourceFiles(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => listFiles(join(projectRoot, folder)))
    .filter((path) => path.endsWith('.ts'))
    .map((path) => relative(projectRoot, path).split(sep).join('/'))
    .sort();
}

export function importsOf(file: string): Import[] {
  const text = readFileSync(join(projectRoot, file), 'utf8');
  return [...text.matchAll(IMPORT)].map((match) => {
    const specifier = match.groups?.static ?? match.groups?.dynamic ?? '';
    const isPackage = !specifier.startsWith('.');
    const target = isPackage ? packageName(specifier) : resolveImport(file, specifier);
    return { file, target, isPackage, isTypeOnly: match.groups?.type !== undefined };
  });
}

// Matches `from '…'` and `import '…'` at the start of a statement, and `import('…')` anywhere.
const IMPORT =
  /^(?:import|export)\s+(?<type>type\s+)?(?:[^'"`;]*?\sfrom\s+)?['"](?<static>[^'"]+)['"]|import\(\s*['"](?<dynamic>[^'"]+)['"]\s*\)/gm;

function packageName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}

function resolveImport(file: string, specifier: string): string {
  const path = resolve(projectRoot, dirname(file), specifier);
  return relative(projectRoot, path).split(sep).join('/');
}

function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
