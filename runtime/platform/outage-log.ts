/** Logs a failure that repeats with every try of a loop: at the first failure, and once a minute while it lasts. */
import type { Log, LogFields } from './log.ts';

type Said = { says: string; fields?: LogFields; level?: 'warn' | 'error' };

export type OutageLog = {
  failed(error: unknown): void;
  /** Resets: the next failure is logged at once. */
  succeeded(): void;
};

/** How often a failure that lasts is logged. */
export const AGAIN_MS = 60_000;

export function createOutageLog(
  log: Pick<Log, 'warn' | 'error'>,
  { says, fields = {}, level = 'warn' }: Said,
): OutageLog {
  let saidAt: number | undefined;
  return {
    failed: (error) => {
      const now = performance.now();
      if (saidAt !== undefined && now - saidAt < AGAIN_MS) return;
      saidAt = now;
      log[level](says, { ...fields, error });
    },
    succeeded: () => {
      saidAt = undefined;
    },
  };
}
