// `eval "$(tintype env)"` sets the values as they are, whatever signs stand in them.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { INSTANCE_FILE, instanceSchema } from '../../../runtime/cli/instance.ts';
import { makeFolder, removeFolder, runTintype } from '../../contract/support/tintype.ts';

const SECRET = `it's "$HOME" \`id\` \\`;
let folder: string;

beforeAll(async () => {
  folder = await makeFolder();
  const words = Object.keys(instanceSchema.shape).map((name) => [name, 'x']);
  const told = { pid: process.pid, delivery_port: 1, delivery_scheme: 'http', environment: {} };
  const instance = { ...Object.fromEntries(words), ...told, request_signing_secret: SECRET };
  await writeFile(join(folder, INSTANCE_FILE), JSON.stringify(instance));
});
afterAll(() => removeFolder(folder));

it('gives a shell the very secret', async () => {
  const { stdout } = await runTintype(['env', '--data', folder]);
  const script = `${stdout}printf %s "$TINTYPE_REQUEST_SIGNING_SECRET"`;
  const said = await promisify(execFile)('sh', ['-c', script]);
  expect(said.stdout).toBe(SECRET);
});
