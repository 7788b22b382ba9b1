/** Lowers a process's priority, so that serving and coordinating go first on a machine that is busy decoding. */
import { getPriority, setPriority } from 'node:os';

const NICE = 10;

/** `pid`: 0 for this process, or one that it has started. */
export function lowerPriority(pid = 0): void {
  setPriority(pid, Math.max(getPriority(), NICE));
}
