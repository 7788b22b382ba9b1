/** Pauses a scanner for a while after some failures in a row; waiting images are not tried against it meanwhile. */
import type { Scores } from '../../core/scan-flags.ts';
import { createBreaker } from '../breaker.ts';
import type { Clock } from '../clock.ts';
import { type Scanner, ScannerFault } from './scanner.ts';

const BREAKER = { failures: 5, pause_ms: 15_000 };

export function withCircuitBreaker(
  { rendition, scan }: Pick<Scanner, 'rendition' | 'scan'>,
  clock: Clock,
): Scanner {
  const breaker = createBreaker(clock, BREAKER);
  return {
    rendition,
    isResting: () => breaker.isOpen(),
    scan: async (picture, signal): Promise<Scores> => {
      try {
        const scores = await scan(picture, signal);
        breaker.succeeded();
        return scores;
      } catch (error) {
        const isOfThePicture = error instanceof ScannerFault && error.kind === 'refused';
        if (isOfThePicture) breaker.succeeded();
        else if (!signal.aborted) breaker.failed();
        throw error;
      }
    },
  };
}
