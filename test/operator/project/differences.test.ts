import { expect, it } from 'vitest';
import { projectDifferences } from '../../../operator/project/differences.ts';
import type { ProjectRows } from '../../../operator/project/gather.ts';
import { printDifference } from '../../../operator/row-difference.ts';
import { projectRows } from '../samples.ts';

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
])(
  'changing domains from $before to $after prints only what is added, removed or moved',
  (each) => {
    expect(linesOf([...each.before], [...each.after])).toEqual(each.lines);
  },
);

it.each([
  {
    hour: 11,
    line: '+ project_pricing shop { effective_from: 2026-11-20T12:00:00.000Z, multiplier: "2" }',
  },
  {
    hour: 12,
    line: '~ project_pricing shop from 2026-11-20T12:00:00.000Z { multiplier: "1.5" → "2" }',
  },
])('a price is printed as new, or as replacing the one of the same hour', ({ hour, line }) => {
  const at = (each: number) => new Date(Date.UTC(2026, 10, 20, each));
  const newest_price = { project_id: 'p', effective_from: at(hour), pricing_multiplier: '1.5' };
  const change = { change: 'set-multiplier', multiplier: '2', effective_from: at(12) } as const;
  const [difference] = projectDifferences(change, subject, projectRows({ newest_price }));
  expect(difference && printDifference(difference)).toBe(line);
});
