import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { projectRoot } from '../house/source-files.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-summary-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The last line of a run of these tests alone, and how it ended. */
function runTests(source: string) {
  writeFileSync(join(folder, 'one.test.js'), source);
  const reporter = join(projectRoot, 'config/summary-reporter.ts');
  const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--globals', `--root=${folder}`, `--reporter=${reporter}`];
  const { TINTYPE_SEEN_FILE: _, ...env } = process.env;
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  return { last: stdout.trimEnd().split('\n').at(-1), status };
}

const passes = `it('passes', () => expect(1).toBe(1));`;

it.each([
  ['what passes', passes, '1 passed, 0 failed', 0],
  ['a test', `${passes} it('fails', () => expect(1).toBe(2));`, '1 passed, 1 failed', 1],
  ['a file that cannot be loaded', `throw new Error('no');`, '0 passed, 1 failed', 1],
  [
    'a hook of a describe',
    `describe('all', () => { beforeAll(() => { throw new Error('no'); }); ${passes} });`,
    '0 passed, 1 failed',
    1,
  ],
])('the last line counts %s', (_, source, last, status) => {
  expect(runTests(source)).toEqual({ last, status });
});
