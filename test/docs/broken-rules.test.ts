// test/broken-rules.md: every row names a file of the product and tests, and all of them exist.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { projectRoot } from './documents.ts';

const page = readFileSync(join(projectRoot, 'test/broken-rules.md'), 'utf8');
const lines = page.split('\n').filter((line) => /^\| (?!area )/.test(line));
const rows = lines.map((line) => {
  const [, file = '', rule, tests = ''] = line.slice(2, -2).split(' | ');
  const named = [...tests.matchAll(/`(test\/[^`]+)` › (.+?)(?=; `test\/|$)/g)];
  return { file, rule, tests: named.map(([, path = '', title = '']) => ({ path, title })) };
});

/** Values that `it.each`, `describe.each` and template literals insert into a title. */
const PLACEHOLDER = /%[sdifjo]|\$\{[^}]*\}|\$[a-z]\w*/i;

describe('test/broken-rules.md', () => {
  it('names as many rules as it says, each with a test', () => {
    expect(Number(/\d+(?= rules\.)/.exec(page)?.[0])).toBe(rows.length);
    expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([]);
  });

  it('names only existing files of the product', () => {
    expect(rows.filter(({ file }) => !existsSync(join(projectRoot, file)))).toEqual([]);
  });

  it('names only existing tests by their full titles', async () => {
    const named = rows.flatMap(({ tests }) => tests);
    const existing = await listTests(named.map(({ path }) => path));
    const isThere = ({ path, title }: (typeof named)[number]) =>
      existing.some((test) => test.path === path && test.pattern.test(title));
    expect(named.filter((each) => !isThere(each))).toEqual([]);
  });
});

/** Lists the tests of these files without running them. A title can have placeholders. */
async function listTests(paths: readonly string[]): Promise<{ path: string; pattern: RegExp }[]> {
  const vitest = ['node_modules/vitest/vitest.mjs', 'list', '--config', 'config/vitest.config.ts'];
  // `--json` is last, as it takes a path after it for the file to write.
  const command = [...vitest, ...new Set(paths), '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    cwd: projectRoot,
    env: {},
  });
  const tests: { name: string; file: string }[] = JSON.parse(stdout);
  return tests.map(({ name, file }) => {
    // Vitest lists a quotation mark with a backslash.
    const texts = name.replaceAll(' > ', ' ').replaceAll('\\"', '"').split(PLACEHOLDER);
    const pattern = new RegExp(`^${texts.map(escaped).join('.+')}$`);
    return { path: relative(projectRoot, file), pattern };
  });
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
