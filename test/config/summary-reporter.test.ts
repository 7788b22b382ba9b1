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

/** Runs only these tests. Returns the non-empty lines of output and the exit status. */
function runTests(source: string) {
  writeFileSync(join(folder, 'one.test.js'), source);
  const reporter = join(projectRoot, 'config/summary-reporter.ts');
  const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--globals', `--root=${folder}`, `--reporter=${reporter}`];
  const { TINTYPE_SEEN_FILE: _, ...env } = process.env;
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  return { lines: stdout.split('\n').filter(Boolean), status };
}

const passes = `it('passes', () => expect(1).toBe(1));`;

const brokenHook = `describe('all', () => { beforeAll(() => { throw new Error('no'); }); ${passes} });`;

it.each([
  ['what passes', passes, '1 passed, 0 failed', 0],
  ['a test', `${passes} it('fails', () => expect(1).toBe(2));`, '1 passed, 1 failed', 1],
  ['a file that cannot be loaded', `throw new Error('no');`, '0 passed, 1 failed', 1],
  ['a hook of a describe', brokenHook, '0 passed, 1 failed', 1],
])('the last line of a test run counts %s', (_, source, last, status) => {
  const ended = runTests(source);
  expect({ last: ended.lines.at(-1), status: ended.status }).toEqual({ last, status });
});

it('the summary names failed tests and those that passed on retry before its last line', () => {
  const second = `let tries = 0; it('blinks', { retry: 1 }, () => expect(++tries).toBe(2));`;
  const { lines } = runTests(`${second} it('fails', () => expect(1).toBe(2)); ${brokenHook}`);
  const found = lines.filter((line) => /^(failed|passed at)/.test(line));
  expect(found).toEqual([
    expect.stringMatching(/^failed: one\.test\.js > fails: expected 1 to be 2/),
    'failed: one.test.js > all: no',
    expect.stringMatching(
      /^passed at the second attempt: one\.test\.js > blinks: expected 1 to be 2/,
    ),
  ]);
});
