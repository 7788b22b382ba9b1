/** Starts the real product with `tintype up`, on free ports with an empty database, and stops it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

export const projectRoot = resolve(import.meta.dirname, '../../..');
export const launcher = join(projectRoot, 'runtime/launcher.js');

/** The line that `tintype up --json` prints when it is ready. */
export type Instance = {
  pid: number;
  api_url: string;
  delivery_root_domain: string;
  delivery_port: number;
  delivery_scheme: string;
  database_url: string;
  issuer: string;
  request_signing_secret: string;
  token_keys: string;
  organization_id: string;
  project_slug: string;
  api_key: string;
};

export type Tintype = {
  instance: Instance;
  data: string;
  child: ChildProcess;
  /** The lines printed so far. */
  stdout: readonly string[];
  stderr: readonly string[];
  /** Sends the signal and resolves with the exit code, or null if the signal ended the process. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

/** `nobody` starts the process without root privileges, even if root runs the tests. */
export type User = 'self' | 'nobody';

type StartOptions = {
  data?: string;
  config?: string;
  env?: NodeJS.ProcessEnv;
  user?: User;
  /** `named` takes the ports from `env`; the default is any free ports. */
  ports?: 'named';
};

const runFile = promisify(execFile);
const START_MS_MAX = 120_000;

/** Tests cause more failed authentications per minute than the limit for one address permits. */
const HURRIED = { TINTYPE_RATE_FAILED_AUTHENTICATIONS: '1000000' };

/**
 * The environment variables for one decoder of each kind, because each takes 0.16 s of processor
 * time to start. Benchmarks, which are no test run, measure the usual number.
 */
export function fewDecoders(): Record<string, string> {
  const isTestRun = process.env.TINTYPE_TEST_POSTGRES !== undefined;
  return isTestRun ? { TINTYPE_INGEST_SLOTS: '1', TINTYPE_RENDER_SLOTS: '1' } : {};
}

type Backend = () => Promise<Record<string, string>>;
let findBackend: Backend | undefined;

/**
 * Sets a function that returns the environment variables for storage and queue. Without it, Tintype
 * uses its embedded ones.
 */
export function setBackend(find: Backend | undefined): void {
  findBackend = find;
}

export const isOnServers = (): boolean => findBackend !== undefined;

export async function startTintype(options: StartOptions = {}): Promise<Tintype> {
  const data = options.data ?? (await makeStarted());
  const config = options.config ?? join(projectRoot, 'config/samples');
  const env = { ...HURRIED, ...fewDecoders(), ...(await findBackend?.()), ...options.env };
  const args = options.ports === 'named' ? ['up', '--json', '--data', data] : upArgs(data);
  const child = spawnTintype([...args, '--config', config], { ...options, env });
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  const [stdout, stderr] = [collectLines(child.stdout), collectLines(child.stderr)];
  const instance = await readInstance(child, { stdout, stderr, ended });
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return { instance, data, child, stdout, stderr, end };
}

/** The arguments to start on any free ports. */
export function upArgs(data: string): string[] {
  return ['up', '--json', '--data', data, '--api-port', '0', '--delivery-port', '0'];
}

/** `inside` is a command that wraps the process. */
type RunOptions = {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  user?: User;
  inside?: readonly string[];
};
export type Ended = { code: number | null; stdout: string; stderr: string };

/** Runs a command to its end. */
export async function runTintype(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  const child = spawnTintype(args, options);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((done) => child.once('close', (exitCode) => done(exitCode))),
  ]);
  return { code, stdout, stderr };
}

export function spawnTintype(args: readonly string[], options: RunOptions = {}) {
  const { cwd, env, user, inside = [] } = options;
  const prefix = [...inside, ...userPrefix(user)];
  const [file = '', ...words] = [...prefix, process.execPath, launcher, ...args];
  return spawn(file, words, {
    cwd: cwd ?? projectRoot,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const NOBODY = 65_534;

// The capability lets the user nobody read root's files, so that a clone in root's home folder
// works, but not write them.
function userPrefix(user: User = 'self'): string[] {
  if (user === 'self' || process.getuid?.() !== 0) return [];
  const ids = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  return ['setpriv', ...ids, '--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];
}

export async function makeFolder(user: User = 'self'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-contract-'));
  if (user === 'nobody' && process.getuid?.() === 0) await chown(folder, NOBODY, NOBODY);
  return folder;
}

/**
 * Creates a data folder as after a first start, but with empty tables, because creating the
 * database takes most of the time of a first start.
 */
export async function makeStarted(): Promise<string> {
  const folder = await makeFolder();
  await copyMigrated(folder);
  return folder;
}

/** Puts the database of a first start into a data folder, in a test run. */
export async function copyMigrated(folder: string): Promise<void> {
  const migrated = process.env.TINTYPE_TEST_POSTGRES;
  // Node's own copy functions change the permissions of folders, which PostgreSQL rejects.
  if (migrated !== undefined) await runFile('cp', ['-a', migrated, join(folder, 'postgres')]);
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

function collectLines(stream: NodeJS.ReadableStream): string[] {
  const lines: string[] = [];
  createInterface({ input: stream }).on('line', (line) => lines.push(line));
  return lines;
}

function readInstance(
  child: ReturnType<typeof spawnTintype>,
  of: { stdout: string[]; stderr: string[]; ended: Promise<number | null> },
): Promise<Instance> {
  return new Promise((ready, failed) => {
    const fail = (why: string) =>
      failed(new Error(`tintype up ${why}:\n${[...of.stdout, ...of.stderr].join('\n')}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('was not ready in time');
    }, START_MS_MAX);
    void of.ended.then((code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
    createInterface({ input: child.stdout }).once('line', (line) => {
      clearTimeout(timer);
      ready(JSON.parse(line) as Instance);
    });
  });
}
