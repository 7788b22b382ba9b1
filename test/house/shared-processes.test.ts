import { expect, it } from 'vitest';
import { importsOf, sourceFiles } from './source-files.ts';

it('suites are run once more by files *on-servers alone, whose processes are their own: in one that is shared they may be loaded already', () => {
  const again = sourceFiles(['test'])
    .flatMap(importsOf)
    .filter(({ target }) => target.endsWith('.test.ts'));
  expect(again.length).toBeGreaterThan(20);
  const files = [...new Set(again.map(({ file }) => file))];
  expect(files.filter((file) => !file.endsWith('on-servers.test.ts'))).toEqual([]);
});
