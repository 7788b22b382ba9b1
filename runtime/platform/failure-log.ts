/**
 * Failed requests in the log: what nobody expected is an error, each time; what is away or full is a warning. All requests
 * fail by that while it lasts, so the same words are said once a minute, with the number of those that were left out.
 */
import { LRUCache } from 'lru-cache';
import { isExpected } from '../core/outage.ts';
import type { Log, LogFields } from './log.ts';
import { reasonOf } from './reason-of.ts';

export type FailureLog = {
  failed(says: string, failure: LogFields & { error: unknown }): void;
};

const AGAIN_MS = 60_000;
/** Different words that are remembered; some of them name what was asked for. */
const WORDS_MAX = 100;

export function createFailureLog(log: Pick<Log, 'warn' | 'error'>): FailureLog {
  const said = new LRUCache<string, { at: number; left_out: number }>({ max: WORDS_MAX });
  return {
    failed: (says, failure) => {
      const { error } = failure;
      if (!isExpected(error)) return log.error(says, failure);
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
