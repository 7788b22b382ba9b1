/** Decoder children below this process, as Linux shows them: their ids, and how much of a core they have used. */
import { readdirSync, readFileSync } from 'node:fs';

/** What runs `program` below this process, parents first: what encloses a decoder comes before it. */
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

/** Not as the dead one that nobody has asked about yet. */
export function isRunning(pid: number): boolean {
  return readProcess(pid, 'cmdline') !== '';
}

/** Hundredths of a second of a core, in user mode; of proc(5), the fourteenth field. */
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
