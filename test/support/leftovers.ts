/** What test runs that were killed leave behind: folders, and programs that still run for them. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../runtime/platform/is-alive.ts';

export type Leftovers = {
  /** Of the names of such folders; in each, `owner.pid` names the run. */
  prefix: string;
  /** What the environment of each program of a folder has, `NAME=value`. */
  markOf(folder: string): string;
};

/** Programs are ended by their ids, and only where the run that owned the folder is gone. */
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
