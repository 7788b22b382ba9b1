/**
 * Remembers failures, so that work that failed a moment ago is not repeated for each viewer: a failed render or a
 * missing object for 30 s. Spec: Delivery host.
 */
import { LRUCache } from 'lru-cache';
import { FAILED_RENDER_REMEMBERED_SECONDS } from '../core/limits.ts';
import { type Clock, steady } from '../platform/clock.ts';

export type FailureMemory = {
  /** Throws the failure remembered under this key, if any. */
  check(key: string): void;
  remember(key: string, failure: Error): void;
};

const FAILURES_MAX = 10_000;

export function createFailureMemory(clock: Clock): FailureMemory {
  const failures = new LRUCache<string, Error>({
    max: FAILURES_MAX,
    ttl: FAILED_RENDER_REMEMBERED_SECONDS * 1000,
    ttlResolution: 0,
    perf: { now: () => steady(clock).now().getTime() },
  });
  return {
    check: (key) => {
      const failure = failures.get(key);
      if (failure !== undefined) throw failure;
    },
    remember: (key, failure) => void failures.set(key, failure),
  };
}
