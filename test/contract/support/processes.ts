/** Inspects processes through /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the command lines of all descendants of a process. */
export function childrenOf(pid: number): string[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`).trim().split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [commandOf(child), ...childrenOf(child)]).filter(Boolean);
}

export function isRunning(pid: number): boolean {
  return !/^State:\s+Z/m.test(read(`/proc/${pid}/status`)) && commandOf(pid) !== '';
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).split('\0').filter(Boolean).join(' ');
}

/** Returns an empty string if the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
