/** Watches the resident memory of a process, where the system tells it (Linux); elsewhere it watches nothing. */
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

/** 0 when the process is gone. Reading /proc never waits for a disk. */
export function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
