// The API's pages work from a clone whose folder name has a space and a non-ASCII letter.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';

const run = promisify(execFile);
const clone = mkdtempSync(join(tmpdir(), 'my pictures ü '));
afterAll(() => rmSync(clone, { recursive: true, force: true }));

const SCRIPT = `
import express from 'express';
import { documentation } from './runtime/api/documentation/documentation.ts';
import { statusPage } from './runtime/api/status-page/status-page.ts';
const app = express().use(documentation(), statusPage({}));
const server = app.listen(0, '127.0.0.1', async () => {
  const answers = {};
  for (const path of process.argv.slice(1)) {
    const url = 'http://127.0.0.1:' + server.address().port + path;
    answers[path] = (await fetch(url)).status;
  }
  console.log(JSON.stringify(answers));
  server.close();
});
`;

it('the docs and status pages load from a clone in a folder with a space and a non-ASCII letter', async () => {
  const root = join(import.meta.dirname, '../../..');
  cpSync(join(root, 'runtime'), join(clone, 'runtime'), { recursive: true });
  cpSync(join(root, 'package.json'), join(clone, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  const paths = ['/docs', '/docs/assets/page.css', '/docs/errors', '/status/status.css'];
  const { stdout } = await run(
    process.execPath,
    ['--input-type=module', '-e', SCRIPT, '--', ...paths],
    { cwd: clone },
  );
  expect(JSON.parse(stdout)).toEqual(Object.fromEntries(paths.map((path) => [path, 200])));
});
