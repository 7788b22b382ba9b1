import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { escapeDashedFiles } from '../../../runtime/cli/file-arguments.ts';

let folder: string;
const before = process.cwd();
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-arguments-'));
  for (const name of ['-dash.jpg', '-h', '--slug', '--slug.jpg', 'plain.jpg']) {
    writeFileSync(join(folder, name), 'x');
  }
  process.chdir(folder);
});
afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

const read = (...words: string[]) => escapeDashedFiles(['node', 'tintype', ...words]).slice(2);

it('a file name that begins like an option is rewritten as a path', () => {
  expect(read('upload', '-dash.jpg', '-h', '--slug.jpg', 'plain.jpg')).toEqual([
    'upload',
    './-dash.jpg',
    './-h',
    './--slug.jpg',
    'plain.jpg',
  ]);
});

it('options, words that name no file, and other commands stay unchanged', () => {
  const words = ['upload', '--slug', 'x', '--data=y', '--', '--projct', '-x'];
  expect(read(...words)).toEqual(words);
  expect(read('token', '-dash.jpg')).toEqual(['token', '-dash.jpg']);
  expect(read()).toEqual([]);
});
