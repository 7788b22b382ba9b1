// docs/webhooks.md: its function for receivers accepts our signatures and rejects others.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signWebhook } from '../../runtime/core/signing/webhook.ts';
import { readFences } from '../contract/support/blocks.ts';

type IsGenuine = (body: Buffer, header: string, secret: string) => boolean;

const body = Buffer.from('{"id":"upl_1:1"}');
const now = () => Math.floor(Date.now() / 1000);
const sign = (secrets: string[], t = now()) => signWebhook({ secrets, t, body });
let folder = '';
let isGenuine: IsGenuine;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-webhooks-'));
  const [fence] = readFences('docs/webhooks.md').filter(({ name }) => name === 'is-genuine.ts');
  const file = join(folder, 'is-genuine.mts');
  await writeFile(file, fence?.text ?? '');
  ({ isGenuine } = (await import(file)) as { isGenuine: IsGenuine });
});
afterAll(() => rm(folder, { recursive: true }));

it('isGenuine accepts a signature by the current or the previous secret', () => {
  expect(isGenuine(body, sign(['new']), 'new')).toBe(true);
  expect(isGenuine(body, sign(['new', 'old']), 'old')).toBe(true);
  expect(isGenuine(body, sign(['new'], now() - 290), 'new')).toBe(true);
});

it('isGenuine rejects every other signature, without throwing', () => {
  const [t, v1] = sign(['new']).split(',');
  expect(isGenuine(body, sign(['other']), 'new')).toBe(false);
  expect(isGenuine(body, sign(['new'], now() - 310), 'new')).toBe(false);
  expect(isGenuine(body, sign(['new'], now() + 310), 'new')).toBe(false);
  expect(isGenuine(Buffer.from('{}'), sign(['new']), 'new')).toBe(false);
  for (const header of [
    '',
    'v1',
    `${v1},${t}`,
    `${t},v1=`,
    `${t},v1=${'é'.repeat(64)}`,
    `t=x,${v1}`,
  ]) {
    expect(isGenuine(body, header, 'new'), header).toBe(false);
  }
});
