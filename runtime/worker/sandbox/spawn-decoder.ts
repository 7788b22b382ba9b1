/**
 * Starts a decoder process that can do hardly anything but compute: its own environment, no files but the program's,
 * and no way to write, to start a process or to load missing code.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { fontEnvironment } from './fonts.ts';
import { FILTER_FD, findIsolation } from './isolation.ts';
import { lowerPriority, niceOfDecoder } from './lower-priority.ts';
import { DECODER_PROGRAM, readProgramSources, SOURCES_FD } from './program-sources.ts';
import { SandboxFailure } from './sandbox-failure.ts';

const HEAP_MEGABYTES = 256;
/**
 * Address space that is reserved but never resident, in addition to a decoder's resident memory.
 */
const RESERVED_BYTES = 1_073_741_824;
const root = fileURLToPath(new URL('../../../', import.meta.url));
const boot = fileURLToPath(new URL('./boot.js', import.meta.url));

export type DecoderProgram = {
  memory_bytes: number;
  entry?: URL | undefined;
  /** Added to the otherwise empty environment. */
  environment?: Readonly<Record<string, string>> | undefined;
  /** Its niceness on a machine whose servers run at the usual priority. */
  nice?: number | undefined;
};

/**
 * Jobs go to standard input, answers come from file descriptor 3, and standard error holds a dying
 * child's messages. Throws SandboxFailure `unstarted`, also when its program files are missing,
 * such as while Node or a package is replaced.
 */
export function spawnDecoder(program: DecoderProgram): ChildProcess {
  try {
    return startDecoder(program);
  } catch (error) {
    throw error instanceof SandboxFailure ? error : new SandboxFailure('unstarted', String(error));
  }
}

function startDecoder({ memory_bytes, entry, environment, nice }: DecoderProgram): ChildProcess {
  const niceness = niceOfDecoder(nice);
  const program = entry ?? DECODER_PROGRAM;
  const folders = [
    `${root}runtime${sep}`,
    `${root}package.json`,
    ...packagesFolders(),
    dirname(fileURLToPath(program)) + sep,
  ];
  const flags = [
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    '--permission',
    ...folders.map((path) => `--allow-fs-read=${path}`),
    '--allow-addons',
    '--disable-warning=SecurityWarning',
  ];
  const child = startEnclosed([...flags, boot, program.href, String(niceness)], {
    readable: folders,
    sources: readProgramSources(program),
    data_bytes_max: memory_bytes + RESERVED_BYTES,
    environment,
  });
  preferForOomKill(child.pid);
  startBehind(child.pid, niceness);
  return child;
}

type Enclosed = {
  readable: readonly string[];
  data_bytes_max: number;
  environment?: Readonly<Record<string, string>> | undefined;
  /** Passed to the child on SOURCES_FD. */
  sources?: Buffer;
};

/** Starts Node with these arguments behind every layer that the kernel offers. */
export function startEnclosed(
  nodeArguments: readonly string[],
  { readable, data_bytes_max, environment, sources }: Enclosed,
): ChildProcess {
  const isolation = findIsolation();
  const command = isolation.enclose({
    program: process.execPath,
    arguments: nodeArguments,
    readable: [...readable, ...programFiles()].filter((path) => existsSync(path)),
    data_bytes_max,
  });
  const child = startProgram([command.program, ...command.arguments], {
    cwd: '/',
    // Large images stay in memory, where they are counted: there is no disk for them.
    env: {
      UV_THREADPOOL_SIZE: '2',
      MALLOC_ARENA_MAX: '2',
      VIPS_DISC_THRESHOLD: '1000g',
      ...fontEnvironment(),
      ...environment,
    },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe', pipeFor(isolation.filter), pipeFor(sources)],
  });
  writeToPipe(child, FILTER_FD, isolation.filter);
  writeToPipe(child, SOURCES_FD, sources);
  return child;
}

function pipeFor(bytes: Buffer | null | undefined): 'pipe' | 'ignore' {
  return bytes ? 'pipe' : 'ignore';
}

function writeToPipe(child: ChildProcess, fd: number, bytes: Buffer | null | undefined): void {
  if (!bytes) return;
  const pipe = child.stdio[fd] as Writable | null;
  pipe?.on('error', () => undefined).end(bytes);
}

/**
 * Throws SandboxFailure `unstarted` when the system has no room for another program, or for its
 * pipes.
 */
function startProgram([program = '', ...words]: string[], options: SpawnOptions): ChildProcess {
  let child: ChildProcess;
  try {
    child = spawn(program, words, options);
  } catch (error) {
    throw new SandboxFailure('unstarted', String(error));
  }
  // Spawn errors arrive later as an event; without a listener it would end this process.
  child.on('error', () => undefined);
  if (!Array.isArray(child.stdio))
    throw new SandboxFailure('unstarted', 'no pipes are left for it');
  return child;
}

/** Node itself, under the path by which it was called and its real path. */
function programFiles(): string[] {
  const real = realpathSync(process.execPath);
  const libraries = join(dirname(dirname(real)), 'lib');
  const linked = existsSync(join(libraries, 'libnode.so')) ? [libraries] : [];
  return [...new Set([process.execPath, real, ...linked])];
}

/**
 * The folder where npm installed sharp and its dependencies; also the path by which it is found, if
 * that is a link.
 */
function packagesFolders(): string[] {
  const folder = `${sep}node_modules${sep}`;
  const path = createRequire(import.meta.url).resolve('sharp');
  const real = path.slice(0, path.lastIndexOf(folder) + folder.length);
  const named = join(root, folder);
  return existsSync(named) && named !== real ? [real, named] : [real];
}

/**
 * If memory still runs out, the kernel should kill the decoder, not the worker. Set at once, so
 * that the children of the first program inherit it.
 */
function preferForOomKill(pid: number | undefined): void {
  if (pid === undefined || process.platform !== 'linux') return;
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // It has already ended; its exit reports that.
  }
}

/**
 * Starting takes as long as a small image, so a replacement child gets a low priority and delays
 * nobody.
 */
function startBehind(pid: number | undefined, nice: number): void {
  if (pid === undefined) return;
  try {
    lowerPriority(pid, nice);
  } catch {
    // It has already ended; its exit reports that.
  }
}
