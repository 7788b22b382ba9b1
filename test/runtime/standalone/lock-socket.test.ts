// Only one Tintype uses a folder at a time. A lock file is removed only if the process that held it is dead.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { holdSocket } from '../../../runtime/standalone/lock-socket.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

it.each([
  ['a file', () => join(folder, 'lock.sock')],
  ['no file', () => `\0tintype-test-${process.pid}`],
])('a lock that is %s is held by only one holder until it is released', async (_name, address) => {
  const first = await holdSocket(address());
  expect(first).toBeDefined();
  expect(await holdSocket(address())).toBeUndefined();
  expect(await holdSocket(address())).toBeUndefined();
  await new Promise((done) => first?.close(done));
  const next = await holdSocket(address());
  expect(next).toBeDefined();
  await new Promise((done) => next?.close(done));
});

it('a lock left behind by a killed process can be taken', async () => {
  const address = join(folder, 'lock.sock');
  const script = `require('node:net').createServer().listen(${JSON.stringify(address)}, () => console.log('held'))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  expect(await holdSocket(address)).toBeUndefined();
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(existsSync(address)).toBe(true);
  const held = await holdSocket(address);
  expect(held).toBeDefined();
  await new Promise((done) => held?.close(done));
});
