/** Starts a PostgreSQL on a disk of its own, which a test can fill, and make room on again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { fillDisk } from './fill-disk.ts';

export type FullPostgres = {
  url: string;
  /** Fills the disk to its last block. */
  fill(): void;
  /** Makes room again. */
  empty(): void;
  stop(): Promise<void>;
};

const PROGRAM = fileURLToPath(new URL('./small-disk-postgres.ts', import.meta.url));
// A mount namespace of its own, so that the disk disappears with the process. `$0` is the mount
// point, and the arguments are the command.
const ON_SMALL_DISK = 'mount -t tmpfs -o size=200m tmpfs "$0" && exec "$@"';

export async function startFullPostgres(): Promise<FullPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'tintype-full-postgres-'));
  const command = [process.execPath, PROGRAM, folder];
  const namespace = ['--map-root-user', '--mount', 'sh', '-c', ON_SMALL_DISK, folder];
  const child = spawn('unshare', [...namespace, ...command], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const ended = closed.then(() => Promise.reject(new Error('PostgreSQL did not start')));
  ended.catch(() => undefined);
  const [url] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
  const ballast = join(`/proc/${child.pid}/root`, folder, 'ballast');
  return {
    url,
    fill: () => fillDisk(ballast),
    empty: () => rmSync(ballast),
    stop: async () => {
      child.stdin.end();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
