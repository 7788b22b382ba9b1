/**
 * Circuit breaker: after some failures in a row, calls are refused for a while, to spare the service and its callers;
 * then one call tries again.
 */
import { type Clock, steady } from './clock.ts';

export type Breaker = {
  /** Whether calls are refused now. */
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
      // The first caller tries; the others stay refused until its result is known.
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
