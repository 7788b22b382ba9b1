// The minutes of the database clock, which are the windows of rate limits.
import { expect } from 'vitest';
import type { Queryable } from '../../runtime/db/client.ts';

/**
 * Waits for the first 40 seconds of a minute, so that a test can count requests within one window.
 */
export async function untilEarlyInMinute(db: Queryable): Promise<void> {
  const second = async () => {
    const [row] = await db.query<{ second: number }>(
      'select extract(second from now())::integer as second',
    );
    return row?.second ?? 0;
  };
  await expect.poll(second, { timeout: 30_000, interval: 200 }).toBeLessThan(40);
}
