/** How an attempt ended is written down as soon as the database is back: otherwise it would count against its picture. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../../core/outage.ts';

/** Shorter than the time after which anybody looks for attempts whose lease is over. */
const PAUSE_MS = 500;

/** Writes until it is answered, for so long; what may have been written before is written again. */
export async function outlastOutage<T>(seconds: number, write: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + seconds * 1000; ; ) {
    try {
      return await write();
    } catch (error) {
      if (!isOutage(error) || performance.now() >= end) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
