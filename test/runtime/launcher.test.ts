import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const launcher = new URL('../../runtime/launcher.js', import.meta.url).pathname;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-launcher-'));
  await mkdir(join(folder, 'runtime'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
});
afterEach(() => rm(folder, { recursive: true }));

/** Copies the launcher beside this main module; it believes that Node has this version. */
async function place(version: string, main: string): Promise<string> {
  const source = await readFile(launcher, 'utf8');
  const path = join(folder, 'runtime', 'launcher.js');
  await writeFile(path, source.replaceAll('process.versions.node', `'${version}'`));
  await writeFile(join(folder, 'runtime', 'main.ts'), main);
  return path;
}

async function fetchNode(): Promise<void> {
  const bin = join(folder, '.tools', 'node', 'bin');
  await mkdir(bin, { recursive: true });
  await symlink(process.execPath, join(bin, 'node'));
}

/** Runs the launcher without NODE_COMPILE_CACHE. */
function run(path: string, ...words: string[]) {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const stdio = ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, [path, ...words], { stdio, env });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const answer = Promise.all([text(child.stdout), text(child.stderr), ended]).then(
    ([stdout, stderr, code]) => ({ stdout, stderr, code }),
  );
  return { child, answer };
}

const printWords = 'const words: string[] = process.argv.slice(2); console.info(words.join("+"));';

/** Runs as the first process (PID 1) of a PID namespace, and sends SIGTERM once it has begun. */
async function endFirstProcess(main: string): Promise<{ code: number | null; stdout: string }> {
  const path = await place(
    '24.1.0',
    `${main}; setInterval(() => {}, 1000); console.info('begun');`,
  );
  const words = ['--pid', '--fork', '--kill-child', process.execPath, path];
  const child = spawn('unshare', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const printed: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (part: string) => printed.push(part));
  await once(child.stdout, 'data');
  const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  process.kill(Number(children), 'SIGTERM');
  const [code] = await ended;
  return { code, stdout: printed.join('') };
}

describe('the first process of a container', () => {
  it('ends on SIGTERM even if main does not handle it yet', async () => {
    expect(await endFirstProcess('')).toMatchObject({ code: 143, stdout: 'begun\n' });
  });

  it('ends as main decides once main handles SIGTERM', async () => {
    const main = `process.on('SIGTERM', () => { console.info('ended'); process.exit(7); })`;
    expect(await endFirstProcess(main)).toEqual({ code: 7, stdout: 'begun\nended\n' });
  });
});

describe('the launcher', () => {
  it('runs main itself if Node is new enough', async () => {
    const path = await place('24.1.0', `${printWords} process.exitCode = 3;`);
    expect(await run(path, 'up', '--json').answer).toMatchObject({
      stdout: 'up+--json\n',
      code: 3,
    });
  });

  it('starts the fetched Node if its own is too old, with the same arguments and exit code', async () => {
    await fetchNode();
    const path = await place('20.20.2', `${printWords} process.exitCode = 2;`);
    expect(await run(path, 'token', 'a b').answer).toMatchObject({
      stdout: 'token+a b\n',
      code: 2,
    });
  });

  it.each(['24.1.0', '20.20.2'])(
    'stores compiled code beside the packages, also under Node %s',
    async (version) => {
      await fetchNode();
      const path = await place(version, printWords);
      expect(await run(path, 'kept').answer).toEqual({ stdout: 'kept\n', stderr: '', code: 0 });
      const kept = await readdir(join(folder, 'node_modules/.cache/tintype'), { recursive: true });
      expect(kept.length).toBeGreaterThan(1);
    },
  );

  it('starts even if compiled code cannot be stored', async () => {
    await writeFile(join(folder, 'node_modules'), 'no folder');
    const path = await place('24.1.0', printWords);
    expect(await run(path, 'up').answer).toEqual({ stdout: 'up\n', stderr: '', code: 0 });
  });

  it('passes signals on and ends as the started process ends', async () => {
    await fetchNode();
    const main = `process.on('SIGTERM', () => process.exit(7)); console.info('up'); setInterval(() => {}, 1000);`;
    const { child, answer } = run(await place('18.0.0', main));
    child.stdout.once('data', () => child.kill('SIGTERM'));
    expect(await answer).toMatchObject({ code: 7 });
  });

  it('says in one line what to do when no Node was fetched', async () => {
    const { stderr, code } = await run(await place('20.20.2', printWords)).answer;
    expect(code).toBe(1);
    expect(stderr).toBe(
      'tintype: Node 24 or newer is needed and this is 20.20.2: run `make up` first, it fetches one.\n',
    );
  });

  it('says in one line what to do in a clone that has no packages yet', async () => {
    const path = await place('24.1.0', printWords);
    await writeFile(join(folder, 'package-lock.json'), '{}');
    const { stderr, code } = await run(path).answer;
    expect(code).toBe(1);
    expect(stderr).toBe(
      'tintype: its packages are not here: run `make up` first, it fetches them.\n',
    );
    await mkdir(join(folder, 'node_modules', 'commander'), { recursive: true });
    expect(await run(path, 'a').answer).toMatchObject({ code: 0, stdout: 'a\n' });
  });

  it('says what to do when the fetched Node does not start', async () => {
    const bin = join(folder, '.tools', 'node', 'bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, 'node'), 'not a program');
    await chmod(join(bin, 'node'), 0o644);
    const { stderr, code } = await run(await place('20.20.2', printWords)).answer;
    expect(code).toBe(1);
    expect(stderr).toContain('run `make up`, which fetches it anew');
  });
});
