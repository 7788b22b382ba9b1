// The pid file that a running PostgreSQL keeps in its data folder; it identifies the server after a crash of its
// parent.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Lines 1, 4 and 8 of postmaster.pid; status is starting, ready or stopping. */
export type PidFile = { pid: number; port: number; status: string };

export function readPidFile(dataFolder: string): PidFile | undefined {
  const file = join(dataFolder, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const lines = readLines(file);
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3] ?? 0), status: (lines[7] ?? 'starting').trim() };
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return []; // Removed by its owner meanwhile.
  }
}

/**
 * Whether the process is the server of this folder under another path: the folder was moved since,
 * or is reached through a link. The server's own path may not stay valid. Only detected on Linux.
 */
export function isUnderOtherName(dataFolder: string, { pid }: PidFile): boolean {
  const command = commandOf(pid);
  if (command.includes(dataFolder) || !command.includes('postgres')) return false;
  const folder = `/proc/${pid}/cwd`;
  return idOf(folder) !== undefined && idOf(folder) === idOf(dataFolder);
}

function idOf(folder: string): string | undefined {
  try {
    const { dev, ino } = statSync(folder);
    return `${dev}:${ino}`;
  } catch {
    return undefined; // Not visible to us, or gone.
  }
}

/**
 * Removes the pid file when its pid now belongs to a program other than the server of this folder.
 */
export function removeStalePidFile(dataFolder: string, { pid }: PidFile): boolean {
  if (commandOf(pid).includes(dataFolder)) return false;
  rmSync(join(dataFolder, 'postmaster.pid'), { force: true });
  return true;
}

function commandOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
