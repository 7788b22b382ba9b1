// Types the commands with which docs/deployment.md replaces a key-encryption key, and restarts Tintype after each; the
// last time with the list in the data folder's file, where `make up` keeps it.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readShellBlocks } from '../contract/support/blocks.ts';
import { deliver, withKey } from '../contract/support/client.ts';
import { diagnose } from '../contract/support/doctor.ts';
import { removeFolder, startTintype, type Tintype } from '../contract/support/tintype.ts';
import { upload } from '../contract/support/upload.ts';
import { over, quarters } from '../support/pictures.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { openShell, type Shell } from '../walkthroughs/support/shell.ts';

const OLD = newSealingKey('k1');
const [append, putFirst, reseal, remove, ...others] = readShellBlocks('docs/deployment.md');
let tintype: Tintype;
let shell: Shell;

const start = (keys: string, data?: string) =>
  startTintype({ ...(data && { data }), env: { TINTYPE_KEY_ENCRYPTION_KEYS: keys } });

async function restartFromFile(key_encryption_keys: string): Promise<void> {
  await tintype.end('SIGTERM');
  const file = join(tintype.data, 'secrets.json');
  const secrets = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...secrets, key_encryption_keys }));
  tintype = await startTintype({ data: tintype.data });
}

async function restart(keys: string): Promise<void> {
  await tintype.end('SIGTERM');
  tintype = await start(keys, tintype.data);
}

beforeAll(async () => {
  tintype = await start(OLD);
  shell = openShell({ folder: tintype.data, tintype, env: { TINTYPE_KEY_ENCRYPTION_KEYS: OLD } });
  await shell.type('tintype() { npx tintype "$@"; }');
}, 120_000);

afterAll(async () => {
  await Promise.all([shell?.close(), tintype?.end('SIGTERM')]);
  await removeFolder(tintype?.data);
});

const api = () => withKey(tintype, tintype.instance.api_key);
const mint = () => api()('POST', '/v1/projects/demo/signed-url', { file_slug: 'sun.png' });
const typed = async (block = '') => {
  await shell.type(block);
  return (await shell.type('printf %s "$TINTYPE_KEY_ENCRYPTION_KEYS"')).trim();
};
const complaints = () => tintype.stderr.filter((line) => /secrets in the database/.test(line));
const secretsOf = async () => {
  const diagnosis = await diagnose(['--data', tintype.data]);
  const check = diagnosis.checks.find(
    ({ area, name }) => area === 'database' && name === 'secrets',
  );
  return [check?.outcome, check?.says];
};

it('replaces the key while what it encrypted stays usable', { timeout: 240_000 }, async () => {
  const bytes = await over(quarters(16, 16)).png().toBuffer();
  const sent = { bytes, content_type: 'image/png', file_slug: 'sun.png' };
  expect((await upload(api(), 'demo', sent)).status).toBe('ready');
  const minted = new URL((await mint()).body.url);
  const path = minted.pathname + minted.search;
  const statuses = async () => [
    (await mint()).status,
    (await deliver(tintype, { project: 'demo', path })).status,
  ];
  expect(await secretsOf()).toEqual(['ok', "encrypted with 'k1'"]);

  await restart(await typed(append));
  expect(await statuses()).toEqual([200, 200]);

  const both = await typed(putFirst);
  const [newest = ''] = both.split(',');
  expect(newest).toMatch(/^k2:/);
  await restart(newest);
  expect(complaints()).toHaveLength(1);
  expect(complaints()[0]).toContain('k1');
  expect(await statuses()).toEqual([503, 503]);
  const missing = "some are encrypted with 'k1', not configured";
  expect(await secretsOf()).toEqual(['wrong', missing]);

  await restart(both);
  expect(await statuses()).toEqual([200, 200]);
  expect(await shell.type(reseal ?? '')).toMatch(
    /reseal as of .*: resealed [1-9]\d*, still_under_k1 0/,
  );

  await restartFromFile(await typed(remove));
  expect(complaints()).toEqual([]);
  expect(await statuses()).toEqual([200, 200]);
  expect(await secretsOf()).toEqual(['ok', "encrypted with 'k2'"]);
  expect(others).toEqual([]);
});
