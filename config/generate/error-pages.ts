/**
 * Writes docs/errors from runtime/core/error-help: a page for every code, and an index by status. With --check it
 * writes nothing and fails, naming each page that is stale, missing, or for a code that no longer exists.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorPages } from '../../runtime/core/error-help/error-pages.ts';
import { errorIndexText, errorPageText } from './errors/page-text.ts';

const folder = fileURLToPath(new URL('../../docs/errors', import.meta.url));
const pages = new Map(
  [...errorPages].map(([code, entries]) => [`${code}.md`, errorPageText(entries)]),
);
pages.set('README.md', errorIndexText());

mkdirSync(folder, { recursive: true });
const present = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
);
const stale = [...pages].filter(([name, text]) => present.get(name) !== text);
const leftover = [...present.keys()].filter((name) => !pages.has(name));

if (process.argv.includes('--check')) {
  for (const [name] of stale) complain(`docs/errors/${name} is stale: run make generate`);
  for (const name of leftover)
    complain(`docs/errors/${name} belongs to no code: run make generate`);
} else {
  for (const [name, text] of stale) writeFileSync(join(folder, name), text);
  for (const name of leftover) rmSync(join(folder, name));
}

function complain(sentence: string): void {
  console.error(sentence);
  process.exitCode = 1;
}
