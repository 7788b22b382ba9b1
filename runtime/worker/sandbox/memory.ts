/** Watches the resident memory of a process and its descendants on Linux; does nothing elsewhere. */
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 25;

export function watchMemory(
  pid: number | undefined,
  bytesMax: number,
  onExceeded: (bytes: number) => void,
): { stop(): void } {
  if (pid === undefined || process.platform !== 'linux') return { stop: () => undefined };
  const timer = setInterval(() => {
    const bytes = residentBytes(pid);
    if (bytes <= bytesMax) return;
    clearInterval(timer);
    onExceeded(bytes);
  }, LOOK_EVERY_MS);
  return { stop: () => clearInterval(timer) };
}

/** 0 when the process is gone. Synchronous, because reading /proc never waits for a disk. */
export function residentBytes(pid: number): number {
  const own = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readProcess(pid, 'status'))?.[1] ?? 0) * 1024;
  return childrenOf(pid).reduce((sum, child) => sum + residentBytes(child), own);
}

/** Only children of the first thread, such as bubblewrap's; a decoder cannot start any. */
export function childrenOf(pid: number): number[] {
  const children = readProcess(pid, `task/${pid}/children`);
  return children.split(' ').filter(Boolean).map(Number);
}

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
