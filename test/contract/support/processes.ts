/** Looks at processes as Linux shows them. */
import { readdirSync, readFileSync } from 'node:fs';

/** The command lines of everything that descends from a process. */
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

/** Empty for a process that is gone. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
