/** Removes what killed test runs leave behind: folders, and the programs that still use them. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive } from '../../runtime/platform/is-process-alive.ts';

export type Leftovers = {
  /** Folders whose name begins with this contain `owner.pid`, the process id of their run. */
  prefix: string;
  /** A `NAME=value` that every program of the folder has in its environment. */
  markOf(folder: string): string;
};

/** Kills programs by their ids, and only if the run that owns the folder has ended. */
export async function removeLeftovers({ prefix, markOf }: Leftovers): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => join(tmpdir(), name))) {
    const owner = await readFile(join(folder, 'owner.pid'), 'utf8').catch(() => '');
    if (owner === '' || isProcessAlive(Number(owner))) continue;
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
