/**
 * How long a process and its descendants were ready to run but had no core (Linux only). On an overloaded machine that
 * is not the image's fault.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { childrenOf } from './memory.ts';

const NS_PER_MS = 1_000_000;

/** The sum over all living threads, in ms; 0 when the process is gone. */
export function cpuStarvationMs(pid: number): number {
  const own = threadsOf(pid).reduce((sum, thread) => sum + waitedNs(pid, thread), 0) / NS_PER_MS;
  return childrenOf(pid).reduce((sum, child) => sum + cpuStarvationMs(child), own);
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The second of three numbers: time on a core, time waiting for one, time slices. */
function waitedNs(pid: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[1] ?? 0);
  } catch {
    return 0;
  }
}
