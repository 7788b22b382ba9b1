/** Each package and program that the project installs has its reason in docs/dependencies.md, and nothing else stands there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot, readPages } from './documents.ts';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const named = JSON.parse(read('package.json'));
const scripts = ['install-test-tools.sh', 'install-chart-tools.sh']
  .map((name) => read(`test/support/${name}`))
  .join('\n');
const page = readPages().get('docs/dependencies.md') ?? '';
const [, product = '', scanner = '', tests = '', programs = '', testPrograms = ''] =
  page.split(/^## .+$/m);
const [, fromDebian = '', fromElsewhere = ''] = testPrograms.split(/^From .+$/m);

/** Names of the packages of a table whose second column says something. */
function explained(table: string): string[] {
  return [...table.matchAll(/^\| `([^`]+)` \| \S.* \|$/gm)].map(([, name = '']) => name).sort();
}

/** What a pattern finds in a text, each once. */
function found(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].sort();
}

it.each([
  ['the product', product, named.dependencies],
  ['the embedded scanner', scanner, named.optionalDependencies],
  ['its tests and checks', tests, named.devDependencies],
])('packages of %s', (_of, table, packages) => {
  expect(explained(table)).toEqual(Object.keys(packages).sort());
});

it('programs that the image installs', () => {
  expect(explained(programs)).toEqual(
    found(read('Dockerfile'), /apt-get install [^\n]* (\S+) \\?$/gm),
  );
});

describe('programs that the tests install', () => {
  it('from Debian', () => {
    const [, table = ''] = scripts.match(/^declare -A package_of=\(([^)]*)\)/m) ?? [];
    const packages = [
      ...found(table, /\]=(\S+)/g),
      ...found(scripts, /missing\+=\(([a-z][\w-]*)\)/g),
      ...found(scripts, /install_packages ([a-z][\w-]*)/g),
    ];
    expect(explained(fromDebian)).toEqual(packages.sort());
  });

  it('from the registries of Go, Python and npm', () => {
    const packages = [
      ...found(scripts, /[= ]([a-z\d.]+\.[a-z]+\/[\w./-]+)@v\d/g),
      ...found(scripts, /pip install --quiet(?: --disable-pip-version-check)? ([a-z-]+)/g),
      ...found(scripts, /^[A-Z]+=([a-z-]+)==\d/gm),
      ...found(scripts, /([a-z-]+)@\$[A-Z_]+/g),
    ];
    expect(explained(fromElsewhere)).toEqual(packages.sort());
  });
});
