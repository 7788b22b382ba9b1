/** The ids and CPU times of the decoder processes below this process, read from /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import { childrenOf } from '../../runtime/worker/sandbox/memory.ts';

/**
 * Returns the ids of descendants that run `program`, parents first: an isolation wrapper comes
 * before its decoder.
 */
export function decoderPids(program = 'worker/sandbox/child.ts'): number[] {
  const parents = new Map(listProcesses().map(({ pid, parent }) => [pid, parent]));
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === process.pid || isBelow(parent));
  };
  return [...parents.keys()]
    .filter(isBelow)
    .filter((pid) => readProcess(pid, 'cmdline').includes(program))
    .toSorted((a, b) => a - b);
}

/** Returns how many decoders with `program` this process has started and not ended. */
export function countDecoders(program: string): number {
  return childrenOf(process.pid).filter((pid) => readProcess(pid, 'cmdline').includes(program))
    .length;
}

/** Returns false for a zombie, too. */
export function isRunning(pid: number): boolean {
  return readProcess(pid, 'cmdline') !== '';
}

/** User time in clock ticks of 10 ms: field 14 of /proc/PID/stat. */
export function ticksOf(pid: number): number {
  const stat = readProcess(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[11] ?? 0);
}

function listProcesses(): { pid: number; parent: number }[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const [, parent] = /^.*\) \S+ (\d+)/s.exec(readProcess(Number(pid), 'stat')) ?? [];
    return parent === undefined ? [] : [{ pid: Number(pid), parent: Number(parent) }];
  });
}

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
