/** Reads the CPU time and memory of a process and all its descendants from /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** `pss_bytes` divides each shared page among the processes that share it. */
type TreeUse = { cpu_ms: number; pss_bytes: number; processes: number };

const TICKS_PER_SECOND = 100;

export function measureTree(rootPid: number): TreeUse {
  const used = treeOf(rootPid);
  return {
    cpu_ms: sum(used.map(({ ticks }) => ticks)) * (1000 / TICKS_PER_SECOND),
    pss_bytes: sum(used.map(({ pid }) => readPss(pid))),
    processes: used.length,
  };
}

/** Measures after start-up, when memory has stopped growing, or after half a minute. */
export async function measureAtRest(rootPid: number): Promise<TreeUse> {
  let last = measureTree(rootPid);
  for (let look = 0; look < RESTING_LOOKS_MAX; look += 1) {
    await sleep(RESTING_MS);
    const now = measureTree(rootPid);
    if (Math.abs(now.pss_bytes - last.pss_bytes) < RESTING_BYTES) return now;
    last = now;
  }
  return last;
}

const RESTING_MS = 3000;
const RESTING_LOOKS_MAX = 10;
const RESTING_BYTES = 1_000_000;

/** Returns the memory of each process of the tree, as in `measureTree`, with its command line. */
export function measureEach(
  rootPid: number,
): { pid: number; command: string; pss_bytes: number }[] {
  return treeOf(rootPid).map(({ pid }) => ({
    pid,
    command: readCommand(pid),
    pss_bytes: readPss(pid),
  }));
}

function treeOf(rootPid: number): Process[] {
  const all = listProcesses();
  const pids = new Set([rootPid]);
  // Parents almost always have lower pids than their children. The second pass handles pids that
  // wrapped around.
  for (const { pid, parent } of [...all, ...all]) if (pids.has(parent)) pids.add(pid);
  return all.filter(({ pid }) => pids.has(pid));
}

/**
 * Measures the CPU time of the tree until `stop`. Samples also count processes that start and end
 * in between, whose time the kernel loses if they are killed. Without sampling, only processes
 * alive at the end count, but the measurement costs no CPU time.
 */
export function watchCpu(rootPid: number, isWatched = true): { stop(): number } {
  const before = new Map(ownTicks(rootPid));
  const latest = new Map(before);
  const look = () => {
    for (const [pid, ticks] of ownTicks(rootPid)) latest.set(pid, ticks);
  };
  const timer = isWatched ? setInterval(look, WATCH_MS) : undefined;
  return {
    stop: () => {
      clearInterval(timer);
      look();
      // A process with a reused pid starts from zero.
      const used = [...latest].map(([pid, ticks]) => Math.max(0, ticks - (before.get(pid) ?? 0)));
      return sum(used) * (1000 / TICKS_PER_SECOND);
    },
  };
}

const WATCH_MS = 20;

function ownTicks(rootPid: number): [number, number][] {
  return treeOf(rootPid).map(({ pid, own_ticks }) => [pid, own_ticks]);
}

type Process = { pid: number; parent: number; ticks: number; own_ticks: number };

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
    // Fields of proc(5), from the third on: ppid is 4, utime 14, stime 15, cutime 16, cstime 17.
    const at = (field: number) => fields[field - 3] ?? 0;
    const own_ticks = at(14) + at(15);
    return [{ pid, parent: at(4), own_ticks, ticks: own_ticks + at(16) + at(17) }];
  } catch {
    return [];
  }
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
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
