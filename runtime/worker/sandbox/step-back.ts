/** What serves and coordinates goes first on a machine that is busy decoding. */
import { getPriority, setPriority } from 'node:os';

const NICE = 10;

/** Of this process, or of one that it has started. */
export function stepBack(pid = 0): void {
  setPriority(pid, Math.max(getPriority(), NICE));
}
