/**
 * Logs failed requests: unexpected failures as errors, each time; an outage or overload as a warning. As that affects
 * all requests while it lasts, equal messages are logged once a minute, with the number left out.
 */
import { LRUCache } from 'lru-cache';
import { isServiceUnavailable } from '../core/outage.ts';
import type { Log, LogFields } from './log.ts';
import { AGAIN_MS } from './outage-log.ts';
import { reasonOf } from './reason-of.ts';

export type FailureLog = {
  failed(says: string, failure: LogFields & { error: unknown }): void;
};

/** How many different messages are remembered; some of them contain what was requested. */
const WORDS_MAX = 100;

export function createFailureLog(log: Pick<Log, 'warn' | 'error'>): FailureLog {
  const said = new LRUCache<string, { at: number; left_out: number }>({ max: WORDS_MAX });
  return {
    failed: (says, failure) => {
      const { error } = failure;
      if (!isServiceUnavailable(error)) return log.error(says, failure);
      const words = `${says} ${error.code} ${error.message} ${reasonOf(error.cause)}`;
      const before = said.get(words);
      const now = performance.now();
      if (before !== undefined && now - before.at < AGAIN_MS) {
        before.left_out += 1;
        return;
      }
      said.set(words, { at: now, left_out: 0 });
      log.warn(says, { code: error.code, ...failure, count: before?.left_out });
    },
  };
}
