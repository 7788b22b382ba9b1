import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importsOf, projectRoot, sourceFiles } from './source-files.ts';

it('only *on-servers test files import other suites, because a shared process may have loaded these before', () => {
  const again = sourceFiles(['test'])
    .flatMap(importsOf)
    .filter(({ target }) => target.endsWith('.test.ts'));
  expect(again.length).toBeGreaterThan(10);
  const files = [...new Set(again.map(({ file }) => file))];
  expect(files.filter((file) => !file.endsWith('on-servers.test.ts'))).toEqual([]);
});

it('no test replaces a module, because a shared process may have loaded it before', () => {
  const REPLACES = /\bvi\.(?:do)?[mM]ock\(/;
  const textOf = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
  expect(REPLACES.test("vi.mock('node:os')")).toBe(true);
  expect(sourceFiles(['test']).filter((file) => REPLACES.test(textOf(file)))).toEqual([
    'test/house/shared-processes.test.ts',
  ]);
});
