// CONTRIBUTING.md: no test runs the soak command, which takes an hour. This test checks that Vitest accepts its
// arguments, that the test file exists, and that the file reads the variable.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readFences } from '../contract/support/blocks.ts';
import { projectRoot } from '../house/source-files.ts';

const [soak = '', ...others] = readFences('CONTRIBUTING.md').map(({ text }) => text.trim());

it('CONTRIBUTING.md has one code block, which runs Vitest', () => {
  expect([others, soak.split(' npx vitest run ').length]).toEqual([[], 2]);
});

it('the soak command for the operator selects one test file, which reads its variable', async () => {
  const listed = soak.replace('npx vitest run', 'vitest list --filesOnly');
  const PATH = [join(projectRoot, 'node_modules/.bin'), dirname(process.execPath), '/usr/bin:/bin'];
  const env = { PATH: PATH.join(':') };
  const options = { cwd: projectRoot, env };
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euc', listed], options);
  const files = stdout
    .trim()
    .split('\n')
    .map((line) => line.replace(/^\[\w+\] /, ''));
  expect(files).toEqual(['test/cluster/soak.test.ts']);
  const [variable = ''] = soak.split('=');
  const text = readFileSync(join(projectRoot, files[0] ?? ''), 'utf8');
  expect(text.match(/TINTYPE_\w+/g)).toContain(variable);
});
