/** docs/dependencies.md gives a reason for each package and program that the project installs, and for nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot, readPages } from './documents.ts';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const named = JSON.parse(read('package.json'));
const scripts = ['install-test-tools.sh', 'install-chart-tools.sh', 'installing.sh']
  .map((name) => read(`test/support/${name}`))
  .join('\n');
const page = readPages().get('docs/dependencies.md') ?? '';
const [, product = '', scanner = '', tests = '', programs = '', testPrograms = ''] =
  page.split(/^## .+$/m);
const [, fromDebian = '', fromElsewhere = '', nodesOfDebian = '', peers = ''] =
  testPrograms.split(/^From .+$/m);
const baseImage = read('test/support/base-image.sh');
const images = read('test/e2e/images.sh');
const bench = read('test/bench/peers/install.ts');

/** Returns the packages of a table that have a reason in the second column. */
function explained(table: string): string[] {
  return [...table.matchAll(/^\| `([^`]+)` \| \S.* \|$/gm)].map(([, name = '']) => name).sort();
}

/** Removes duplicates and sorts. */
function sorted(names: string[]): string[] {
  return [...new Set(names)].sort();
}

/** Returns the first group of every match. */
function found(text: string, pattern: RegExp): string[] {
  return sorted([...text.matchAll(pattern)].map(([, name = '']) => name));
}

it.each([
  ['the product', product, named.dependencies],
  ['the embedded scanner', scanner, named.optionalDependencies],
  ['its tests and checks', tests, named.devDependencies],
])('docs/dependencies.md explains exactly the packages of %s', (_of, table, packages) => {
  expect(explained(table)).toEqual(Object.keys(packages).sort());
});

it('docs/dependencies.md explains exactly the programs that the image installs', () => {
  expect(explained(programs)).toEqual(
    found(read('Dockerfile'), /apt-get install [^\n]* (\S+) \\?$/gm),
  );
});

describe('the test programs in docs/dependencies.md', () => {
  it('are exactly those installed from Debian', () => {
    const [, table = ''] = scripts.match(/^declare -A package_of=\(([^)]*)\)/m) ?? [];
    const packages = [
      ...found(table, /\]=(\S+)/g),
      ...found(scripts, /missing\+=\(([a-z][\w-]*)\)/g),
      ...found(scripts, /install_packages ([a-z][\w-]*)/g),
    ];
    expect(explained(fromDebian)).toEqual(packages.sort());
  });

  it('are exactly those installed from the registries of Go, Python and npm', () => {
    const packages = [
      ...found(scripts, /[= ]([a-z\d.]+\.[a-z]+\/[\w./-]+)@v\d/g),
      ...found(scripts, /pip install --quiet(?: --disable-pip-version-check)? ([a-z-]+)/g),
      ...found(scripts, /^[A-Z]+=([a-z-]+)==\d/gm),
      ...found(scripts, /([a-z-]+)@\$[A-Z_]+/g),
    ];
    expect(explained(fromElsewhere)).toEqual(packages.sort());
  });

  it('are exactly those installed from Debian for make e2e', () => {
    const [, listed = ''] = read('.ci/run').match(/^ +for each in (.+); do$/m) ?? [];
    const advised = baseImage + read('test/e2e/run.sh');
    const packages = [
      ...found(listed, /[a-z]+:([a-z\d]+)/g),
      ...found(advised, /apt-get install ([a-z -]+)"?/g).flatMap((list) => list.split(' ')),
    ];
    expect(explained(nodesOfDebian)).toEqual(sorted(packages));
  });

  it('are exactly those installed from the registries of Go, Python and npm for make e2e and make bench', () => {
    const packages = [
      ...found(images, /[= ]([a-z\d.]+\.[a-z]+\/[\w./-]+)@v\d/g),
      ...found(images + bench, /(?:pip-version-check '|'install', [^`]*`)([a-z-]+)==/g),
      ...found(baseImage + bench, /["`]([a-z][\w$-]*)@\$/g),
    ];
    expect(explained(peers)).toEqual(sorted(packages));
  });

  it('have the versions that the scripts install', () => {
    const versions = [
      ...found(images, /@v(\d+\.\d+\.\d+)/g),
      ...found(images, /==(\d+\.\d+)/g),
      ...found(baseImage, /^NPM_VERSION=(\S+)/gm),
      ...found(bench, /_VERSION = '([^']+)'/g),
    ];
    expect(found(peers, /\((\d[\d.]+)\)/g)).toEqual(sorted(versions));
  });
});
