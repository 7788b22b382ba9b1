/** Only reviewed packages are installed: exact versions with their hashes, and without running install scripts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8');
const named = JSON.parse(read('package.json'));
const lock = JSON.parse(read('package-lock.json'));

it('every dependency is pinned to an exact version', () => {
  const { dependencies, optionalDependencies, devDependencies } = named;
  const versions = [dependencies, optionalDependencies, devDependencies].flatMap((of) =>
    Object.values<string>(of),
  );
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

it('every package of the product has a SHA-512 hash in the lock file', () => {
  const packages = Object.entries<{ integrity?: string; dev?: true }>(lock.packages).filter(
    ([, { dev }]) => dev !== true,
  );
  const without = packages.filter(
    ([path, { integrity }]) =>
      path.startsWith('node_modules/') && !integrity?.startsWith('sha512-'),
  );
  expect(without.map(([path]) => path)).toEqual([]);
});

it('packages never run install scripts', () => {
  expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
  for (const file of ['Makefile', 'Dockerfile']) {
    const installs = read(file).match(/npm (?:ci|install) [^\n]*/g) ?? [];
    expect(installs.filter((line) => !line.includes('--ignore-scripts'))).toEqual([]);
    expect(installs).not.toEqual([]);
  }
});
