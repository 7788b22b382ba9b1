/**
 * Records the end of an attempt as soon as the database is back: otherwise the attempt would count against its upload.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../../core/outage.ts';

/** Shorter than the delay after which expired leases are searched for. */
const PAUSE_MS = 500;

type RetryOptions = {
  seconds: number;
  /** A process that ends does not wait: after the abort, one more write is the last. */
  stopping?: AbortSignal | undefined;
};

/**
 * Repeats the write until it succeeds or the patience is over; a write that may have succeeded
 * before is repeated too.
 */
export async function retryDuringOutage<T>(
  { seconds, stopping }: RetryOptions,
  write: () => Promise<T>,
): Promise<T> {
  for (const end = performance.now() + seconds * 1000; ; ) {
    const isLast = stopping?.aborted === true;
    try {
      return await write();
    } catch (error) {
      if (!isOutage(error) || isLast || performance.now() >= end) throw error;
    }
    await sleep(PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}
