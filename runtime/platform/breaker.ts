/**
 * Spares somebody who does not answer, and those who would wait for it: after some failures in a row nothing is asked
 * for a while; then one call tries.
 */
import { type Clock, steady } from './clock.ts';

export type Breaker = {
  /** Whether nothing is to be asked now. */
  isOpen(): boolean;
  succeeded(): void;
  failed(): void;
};

export function createBreaker(
  clock: Clock,
  { failures, pause_ms }: { failures: number; pause_ms: number },
): Breaker {
  const nowMs = () => steady(clock).now().getTime();
  let inRow = 0;
  let closedAt = 0;
  return {
    isOpen: () => {
      if (inRow < failures) return false;
      const now = nowMs();
      if (now < closedAt) return true;
      // Whoever is first tries; the others wait for what comes of it.
      closedAt = now + pause_ms;
      return false;
    },
    succeeded: () => {
      inRow = 0;
    },
    failed: () => {
      inRow += 1;
      closedAt = nowMs() + pause_ms;
    },
  };
}
