/** Removes what killed test runs leave behind: folders, and programs that still run for them. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../runtime/platform/is-alive.ts';

export type Leftovers = {
  /** The prefix of such folders' names; `owner.pid` in each folder names its run. */
  prefix: string;
  /** An entry `NAME=value` that the environment of each program of a folder contains. */
  markOf(folder: string): string;
};

/** Programs are stopped by their ids, and only if the run that owned the folder is gone. */
export async function removeLeftovers({ prefix, markOf }: Leftovers): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => join(tmpdir(), name))) {
    const owner = await readFile(join(folder, 'owner.pid'), 'utf8').catch(() => '');
    if (owner === '' || isAlive(Number(owner))) continue;
    for (const pid of await processesWith(markOf(folder))) process.kill(pid, 'SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

async function processesWith(mark: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const marked = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.includes(`${mark}\0`) ? [pid] : [];
    }),
  );
  return marked.flat();
}
