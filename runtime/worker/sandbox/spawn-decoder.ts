/**
 * Starts a decoder process that can do next to nothing but compute: an environment of its own, no file
 * but the program's, no way to write, to start a process or to load what is not there.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const HEAP_MEGABYTES = 256;
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Standard input takes jobs, file descriptor 3 gives answers, standard error is what it says when it dies. */
export function spawnDecoder(
  entry: URL = new URL('./child.ts', import.meta.url),
  environment: Readonly<Record<string, string>> = {},
): ChildProcess {
  const program = fileURLToPath(entry);
  const readable = [
    `${root}runtime${sep}`,
    `${root}package.json`,
    packagesFolder(),
    dirname(program) + sep,
  ];
  const flags = [
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--allow-addons',
    '--disable-warning=SecurityWarning',
  ];
  const child = spawn(process.execPath, [...flags, program], {
    cwd: '/',
    env: { UV_THREADPOOL_SIZE: '2', MALLOC_ARENA_MAX: '2', ...environment },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  });
  offerToKernel(child.pid);
  return child;
}

/** Where npm has put sharp and what it needs. */
function packagesFolder(): string {
  const folder = `${sep}node_modules${sep}`;
  const path = createRequire(import.meta.url).resolve('sharp');
  return path.slice(0, path.lastIndexOf(folder) + folder.length);
}

/** Where memory runs out all the same, the kernel is to take the decoder and not the worker. */
function offerToKernel(pid: number | undefined): void {
  if (pid === undefined || process.platform !== 'linux') return;
  void writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);
}
