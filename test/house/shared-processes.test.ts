import { expect, it } from 'vitest';
import { importsOf, sourceFiles } from './source-files.ts';

it('only *on-servers test files import other suites, because a shared process may have loaded these before', () => {
  const again = sourceFiles(['test'])
    .flatMap(importsOf)
    .filter(({ target }) => target.endsWith('.test.ts'));
  expect(again.length).toBeGreaterThan(10);
  const files = [...new Set(again.map(({ file }) => file))];
  expect(files.filter((file) => !file.endsWith('on-servers.test.ts'))).toEqual([]);
});
