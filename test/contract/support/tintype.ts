/** Starts the real product as a person would, `tintype up`, on free ports and an empty folder, and stops it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export const projectRoot = resolve(import.meta.dirname, '../../..');
export const launcher = join(projectRoot, 'runtime/launcher.js');

/** What `tintype up --json` prints when it is ready. */
export type Instance = {
  pid: number;
  api_url: string;
  delivery_root_domain: string;
  delivery_port: number;
  delivery_scheme: string;
  database_url: string;
  issuer: string;
  request_signing_secret: string;
  organization_id: string;
  project_slug: string;
  api_key: string;
};

export type Tintype = {
  instance: Instance;
  data: string;
  child: ChildProcess;
  /** Everything that it printed so far. */
  output(): string;
  /** Ends it and resolves with its exit code, null when a signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

const START_MS_MAX = 90_000;

export async function startTintype(
  options: { data?: string; config?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Tintype> {
  const data = options.data ?? (await makeFolder());
  const config = options.config ?? join(projectRoot, 'config/samples');
  const args = [
    'up',
    '--json',
    '--data',
    data,
    '--config',
    config,
    '--api-port',
    '0',
    '--delivery-port',
    '0',
  ];
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd: projectRoot,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed: string[] = [];
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  const instance = await readInstance(child, { printed, ended });
  return {
    instance,
    data,
    child,
    output: () => printed.join('\n'),
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs one call of the command to its end. */
export async function runTintype(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd: options.cwd ?? projectRoot,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, code] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    new Promise<number | null>((done) => child.once('close', (exitCode) => done(exitCode))),
  ]);
  return { code, stdout, stderr };
}

export function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'tintype-contract-'));
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function readInstance(
  child: ChildProcess,
  { printed, ended }: { printed: string[]; ended: Promise<number | null> },
): Promise<Instance> {
  return new Promise((ready, failed) => {
    const fail = (why: string) => failed(new Error(`tintype up ${why}:\n${printed.join('\n')}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('was not ready in time');
    }, START_MS_MAX);
    void ended.then((code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
    const onLine = (line: string) => {
      printed.push(line);
      if (!line.startsWith('{"pid"')) return;
      clearTimeout(timer);
      ready(JSON.parse(line) as Instance);
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', onLine);
    }
  });
}
