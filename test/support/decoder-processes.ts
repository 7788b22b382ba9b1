/** The decoder processes below this one, as Linux shows them: their ids and their CPU use. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Ids of processes that run `program` below this one, parents first: an enclosing process precedes
 * its decoder.
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

/** False for a zombie that has not been reaped. */
export function isRunning(pid: number): boolean {
  return readProcess(pid, 'cmdline') !== '';
}

/** User time in hundredths of a CPU second: the fourteenth field of proc(5)'s stat. */
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
