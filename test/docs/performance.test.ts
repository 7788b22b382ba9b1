// Every table of docs/performance.md names the command that measures it, and the command exists.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from './documents.ts';

const page = readFileSync(join(projectRoot, 'docs/performance.md'), 'utf8');
const sections = page.split(/^#{2,3} /m).slice(1);
const help = execFileSync(process.execPath, ['test/bench/main.ts', '--help'], {
  cwd: projectRoot,
  encoding: 'utf8',
});
const parts = new Set(
  help
    .replace(/^.*some of /s, '')
    .trim()
    .split(', '),
);

it('docs/performance.md names only parts that the bench has', () => {
  const named = [...page.matchAll(/make bench ARGS=([\w,-]+)/g)].flatMap(([, list = '']) =>
    list.split(','),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((part) => !parts.has(part))).toEqual([]);
});

it.each(
  sections.filter((text) => text.includes('\n|---|')).map((text) => [text.split('\n')[0], text]),
)('docs/performance.md names what measures the table of %s', (_title, text) => {
  expect(text).toMatch(/`make (bench|test|soak)|#everything-in-one-run/);
});

it('the table of one full run names each part of the bench, its goal, and whether it is met', () => {
  const everything = sections.find((text) => text.startsWith('Everything in one run')) ?? '';
  const rows = everything
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2);
  expect(rows.length).toBeGreaterThan(20);
  const named = new Set<string>();
  for (const row of rows) {
    const [, part = '', , , goal, met] = row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    named.add(part.replaceAll('`', ''));
    expect(goal, row).not.toBe('');
    expect(met === '', row).toBe(goal === 'none');
  }
  expect([...named].toSorted()).toEqual([...parts].toSorted());
});
