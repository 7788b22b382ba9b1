/** How an attempt ended is written down as soon as the database is back: otherwise it would count against its picture. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../../core/outage.ts';

/** Shorter than the time after which anybody looks for attempts whose lease is over. */
const PAUSE_MS = 500;

type Patience = {
  seconds: number;
  /** Whoever ends waits for nobody: once it is aborted, one more write is the last. */
  stopping?: AbortSignal | undefined;
};

/** Writes until it is answered, for so long; what may have been written before is written again. */
export async function outlastOutage<T>(
  { seconds, stopping }: Patience,
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
