/**
 * Writes the package of the SDK, ready to be installed or published: `node config/build-sdk.ts [FOLDER]`, default
 * .build/sdk. It is emitted by tsc from runtime/sdk and what that imports of runtime/core.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, '.build/sdk'));

/** But for those to elsewhere, and to its own headings. */
const LINK_TO_FILE = /\[([^\]]+)\]\((?!#|https?:)([^)#]+)[^)]*\)/g;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const project = join(root, 'runtime/sdk');
const emit = ['--noEmit', 'false', '--declaration', 'true', '--outDir', join(folder, 'dist')];
execFileSync(process.execPath, [compiler, '-p', project, ...emit], { stdio: 'inherit' });
cpSync(join(project, 'package.json'), join(folder, 'package.json'));
cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
writeFileSync(
  join(folder, 'README.md'),
  withoutLinksToFiles(readFileSync(join(root, 'docs/sdk.md'), 'utf8')),
);
console.log(`The package is in ${folder}.`);

/** The documents beside it are not in the package: where they are is said instead. */
function withoutLinksToFiles(text: string): string {
  return text.replaceAll(LINK_TO_FILE, '$1 (docs/$2 of Tintype)');
}
