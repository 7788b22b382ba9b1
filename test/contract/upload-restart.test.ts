// `tintype upload` while Tintype is stopped and started again, also in the middle of a call: it waits, says so once, and
// every file is published.
import { once } from 'node:events';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { over, photograph } from '../support/pictures.ts';
import {
  makeFolder,
  makeStarted,
  removeFolder,
  runTintype,
  spawnTintype,
  startTintype,
  type Tintype,
} from './support/tintype.ts';

const FILES = Array.from({ length: 8 }, (_, at) => `${at}.jpg`);

let data: string;
let folder: string;
let tintype: Tintype;
let ports: Record<string, string>;

const start = (env = {}) => startTintype({ data, env: { ...ports, ...env }, ports: 'named' });

beforeAll(async () => {
  [data, folder] = await Promise.all([makeStarted(), makeFolder()]);
  const [api, delivery] = [await freePort(), await freePort()].map(String);
  ports = { TINTYPE_API_PORT: api ?? '', TINTYPE_DELIVERY_PORT: delivery ?? '' };
  tintype = await start();
  const [first = '', ...others] = FILES.map((name) => join(folder, name));
  await writeFile(first, await over(photograph(2400, 1600)).jpeg().toBuffer());
  for (const other of others) await copyFile(first, other);
}, 300_000);

afterAll(async () => {
  await tintype?.end('SIGTERM');
  await Promise.all([data, folder].map(removeFolder));
});

it.each(['SIGTERM', 'SIGKILL'] as const)(
  '`tintype upload` waits for a Tintype that got %s',
  async (signal) => {
    const child = spawnTintype(['upload', ...FILES, '--data', data], { cwd: folder });
    const ended = once(child, 'close');
    const lines: string[] = [];
    const printed = createInterface({ input: child.stderr });
    printed.on('line', (line) => lines.push(line));
    // Two are published, and others are on their way.
    while (lines.length < 2) await once(printed, 'line');
    await tintype.end(signal);
    while (!lines.some((line) => line.startsWith('Tintype does not answer'))) {
      await once(printed, 'line');
    }
    tintype = await start();
    const end = await ended;
    expect(lines.filter((line) => line.includes('✗'))).toEqual([]);
    expect(end).toEqual([0, null]);
    const waits = lines.filter((line) => line.startsWith('Tintype does not answer'));
    expect(waits).toEqual([expect.stringMatching(/Waiting up to 60 seconds for it/)]);
    expect(lines.filter((line) => line.includes('✓ ready'))).toHaveLength(FILES.length);
    expect(lines.at(-1)).toBe(`All ${FILES.length} files are published.`);
  },
  180_000,
);

// It takes as long as the claim of a killed call lives: a minute.
it('`tintype upload` publishes a file whose completion Tintype was killed in', async () => {
  await tintype.end('SIGTERM');
  tintype = await start({ TINTYPE_FAILPOINT: 'complete.before_commit' });
  const killed = once(tintype.child, 'exit');
  const uploaded = runTintype(['upload', '0.jpg', '--data', data], { cwd: folder });
  expect(await killed).toEqual([null, 'SIGKILL']);
  tintype = await start();
  const { code, stdout, stderr } = await uploaded;
  expect(stderr).toMatch(/^Tintype has not finished an earlier try.* Waiting up to 70 seconds/m);
  expect(stderr).toMatch(/^0\.jpg .*✓ ready/m);
  expect(stdout).toContain('/f/0.jpg\n');
  expect(code).toBe(0);
}, 240_000);
