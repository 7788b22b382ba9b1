// Whoever types the commands of the documents in the clone can still run `make check`.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { projectRoot } from '../house/source-files.ts';

const clone = mkdtempSync(join(tmpdir(), 'tintype-clone-'));
afterAll(() => rmSync(clone, { recursive: true }));

const UNFORMATTED = '{"a":1,  "b":2}';

function write(path: string): string {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), UNFORMATTED);
  return path;
}

it('the format check passes over what the documents leave behind, and nothing else', () => {
  for (const path of ['.gitignore', 'config/lint.json']) {
    cpSync(join(projectRoot, path), join(clone, path), { recursive: true });
  }
  const [, left = ''] = readFileSync(join(clone, '.gitignore'), 'utf8').split(/^# .*$/m);
  const patterns = left.split('\n').filter((line) => /^\/\w.*(\/|\.json)$/.test(line));
  const ignored = patterns.map((line) => write(line.endsWith('/') ? `${line}x.json` : line));
  expect(ignored).toContain('/desk/x.json');
  expect(ignored).toContain('/upload.json');
  const kept = write('runtime/kept.json');
  const { status, stdout, stderr } = spawnSync(
    join(projectRoot, 'node_modules/.bin/biome'),
    ['check', '--config-path', 'config/lint.json', '--reporter=summary', '.'],
    { cwd: clone, encoding: 'utf8' },
  );
  const said = stdout + stderr;
  expect([status, said.includes(kept)], said).toEqual([1, true]);
  for (const path of ignored) expect(said).not.toContain(path.slice(1));
});
