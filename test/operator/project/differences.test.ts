import { expect, it } from 'vitest';
import { projectDifferences } from '../../../operator/project/differences.ts';
import type { ProjectRows } from '../../../operator/project/gather.ts';
import { printDifference } from '../../../operator/row-difference.ts';

const subject = {
  identity: { uid: 'u', namespace: 'shops', name: 'shop', generation: 1 },
  spec: undefined,
} as unknown as Parameters<typeof projectDifferences>[1];

function linesOf(before: readonly string[], domains: readonly string[]): string[] {
  const rows = { project: { custom_domains: before } } as unknown as ProjectRows;
  const change = { change: 'set-domains', domains } as Parameters<typeof projectDifferences>[0];
  return projectDifferences(change, subject, rows).map(printDifference);
}

it.each([
  { before: 'ab', after: 'b', lines: ['- project_domains a'] },
  { before: 'b', after: 'ab', lines: ['+ project_domains a'] },
  {
    before: 'ab',
    after: 'cba',
    lines: [
      '+ project_domains c',
      '~ project_domains b { position: 2 → 1 }',
      '~ project_domains a { position: 1 → 2 }',
    ],
  },
])('domains from $before to $after: each that moves among those that stay', (each) => {
  expect(linesOf([...each.before], [...each.after])).toEqual(each.lines);
});
