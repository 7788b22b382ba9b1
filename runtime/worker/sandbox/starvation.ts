/**
 * How long a process with all below it was ready to run while no core ran it, where the system tells it (Linux). On a
 * machine with too much to do that is not the fault of the picture.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { childrenOf } from './memory.ts';

const NS_PER_MS = 1_000_000;

/** Of all threads that live, in ms; 0 when the process is gone. */
export function starvedMs(pid: number): number {
  const own = threadsOf(pid).reduce((sum, thread) => sum + waitedNs(pid, thread), 0) / NS_PER_MS;
  return childrenOf(pid).reduce((sum, child) => sum + starvedMs(child), own);
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The second number of three: time on a core, time in line for one, turns. */
function waitedNs(pid: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[1] ?? 0);
  } catch {
    return 0;
  }
}
