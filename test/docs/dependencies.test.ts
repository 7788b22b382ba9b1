/** Each package that the project names has its reason in docs/dependencies.md, and nothing else stands there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot, readPages } from './documents.ts';

const named = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
const page = readPages().get('docs/dependencies.md') ?? '';
const [, product = '', scanner = '', tests = ''] = page.split(/^## .+$/m);

/** Names of the packages of a table whose second column says something. */
function explained(table: string): string[] {
  return [...table.matchAll(/^\| `([^`]+)` \| \S.* \|$/gm)].map(([, name = '']) => name);
}

it.each([
  ['the product', product, named.dependencies],
  ['the embedded scanner', scanner, named.optionalDependencies],
  ['its tests and checks', tests, named.devDependencies],
])('of %s', (_of, table, packages) => {
  expect(explained(table).sort()).toEqual(Object.keys(packages).sort());
});
