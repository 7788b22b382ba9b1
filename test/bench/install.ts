/**
 * The time of a first start, from a clone without packages until `tintype up` is ready, and the size of the image if
 * this machine can build it.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { makeFolder, projectRoot, removeFolder, upArgs } from '../contract/support/tintype.ts';
import { type Figure, figure } from './figure.ts';

const IMAGE = 'localhost/tintype:bench';
const run = promisify(execFile);

export async function measureInstall(): Promise<Figure[]> {
  const folder = await makeFolder();
  try {
    const seconds = await measureMakeUp(join(folder, 'clone'), join(folder, 'data'));
    return [
      figure('a fresh clone until make up is ready', 's', [seconds]),
      ...(await measureImage()),
    ];
  } finally {
    await removeFolder(folder);
  }
}

async function measureMakeUp(clone: string, data: string): Promise<number> {
  execFileSync('git', ['clone', '--quiet', projectRoot, clone]);
  const [, ...words] = upArgs(data);
  const started = performance.now();
  const make = spawn('make', ['--no-print-directory', 'up', `ARGS=${words.join(' ')}`], {
    cwd: clone,
    env: withoutOwnNode(process.env),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(make, 'exit');
  for await (const line of createInterface({ input: make.stdout })) {
    if (!line.startsWith('{')) continue;
    const seconds = (performance.now() - started) / 1000;
    process.kill((JSON.parse(line) as { pid: number }).pid, 'SIGTERM');
    await ended;
    return seconds;
  }
  throw new Error('make up ended before it was ready');
}

/** Removes the Node that make installed here from PATH, as in a user's shell. */
function withoutOwnNode(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const places = (env['PATH'] ?? '').split(':').filter((place) => !place.startsWith(projectRoot));
  return { ...env, PATH: places.join(':') };
}

async function measureImage(): Promise<Figure[]> {
  try {
    const base = await run('test/support/base-image.sh', { cwd: projectRoot });
    const started = performance.now();
    const words = ['image', `BASE=${base.stdout.trim()}`, `IMAGE=${IMAGE}`];
    await run('make', words, { cwd: projectRoot, maxBuffer: 64e6 });
    const seconds = (performance.now() - started) / 1000;
    const tried = await run('test/support/check-image.sh', [IMAGE], { cwd: projectRoot });
    const [, all = '', own = ''] =
      /size: (\d+) MB unpacked, of it \/app (\d+) MB/.exec(tried.stdout) ?? [];
    return [
      figure('the image, built on a base that is there', 's', [seconds]),
      figure('… unpacked, its base of Debian packages with it', 'MB', [Number(all)]),
      figure('… of it /app: sources, packages and their licenses', 'MB', [Number(own)]),
    ];
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string };
    process.stderr.write(`the image is left out: ${stderr.trim().split('\n').at(-1) || message}\n`);
    return [];
  }
}
