/** CPU time and memory of a process and everything below it, from /proc: what a piece of work really cost. */
import { readdirSync, readFileSync } from 'node:fs';

/** `pss_bytes` counts a page that several processes share once, divided among them. */
export type TreeUse = { cpu_ms: number; pss_bytes: number; processes: number };

const TICKS_PER_SECOND = 100;

export function measureTree(rootPid: number): TreeUse {
  const all = listProcesses();
  const pids = new Set([rootPid]);
  // Parents have lower pids than their children almost always; twice over the list catches a wrap-around.
  for (const { pid, parent } of [...all, ...all]) if (pids.has(parent)) pids.add(pid);
  const used = all.filter(({ pid }) => pids.has(pid));
  return {
    cpu_ms: sum(used.map(({ ticks }) => ticks)) * (1000 / TICKS_PER_SECOND),
    pss_bytes: sum(used.map(({ pid }) => readPss(pid))),
    processes: used.length,
  };
}

type Process = { pid: number; parent: number; ticks: number };

function listProcesses(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)));
}

function readProcess(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    // Fields of proc(5), from the third on: ppid 4, utime 14, stime 15, cutime 16, cstime 17.
    const at = (field: number) => fields[field - 3] ?? 0;
    const ticks = at(14) + at(15) + at(16) + at(17);
    return [{ pid, parent: at(4), ticks }];
  } catch {
    return [];
  }
}

function readPss(pid: number): number {
  try {
    const [, kibibytes] =
      /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    return Number(kibibytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
