// `eval "$(tintype env)"` preserves values with any special characters.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeFolder, removeFolder, runTintype } from '../../contract/support/tintype.ts';
import { writeInstance } from '../../support/instance-file.ts';

const SECRET = `it's "$HOME" \`id\` \\`;
let folder: string;

beforeAll(async () => {
  folder = await makeFolder();
  await writeInstance(folder, { request_signing_secret: SECRET });
});
afterAll(() => removeFolder(folder));

it('tintype env prints a secret that a shell reads back unchanged', async () => {
  const { stdout } = await runTintype(['env', '--data', folder]);
  const script = `${stdout}printf %s "$TINTYPE_REQUEST_SIGNING_SECRET"`;
  const said = await promisify(execFile)('sh', ['-c', script]);
  expect(said.stdout).toBe(SECRET);
});
