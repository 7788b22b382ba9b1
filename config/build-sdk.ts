/**
 * Builds the SDK package, ready to install or publish: `node config/build-sdk.ts [FOLDER]`, default .build/sdk. tsc
 * emits it from runtime/sdk and the modules of runtime/core that it imports.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, '.build/sdk'));

/** Links to files; external URLs and links to headings of the same page do not match. */
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

/**
 * The package does not include the linked documents, so each link becomes a mention of the file's
 * place in Tintype.
 */
function withoutLinksToFiles(text: string): string {
  return text.replaceAll(LINK_TO_FILE, '$1 (docs/$2 of Tintype)');
}
