// The minutes of the database's clock, which are the windows of rates.
import { expect } from 'vitest';
import type { Queryable } from '../../runtime/db/client.ts';

/** Counting takes seconds, so this waits until the database's minute has enough of them left. */
export async function untilEarlyInMinute(db: Queryable): Promise<void> {
  const second = async () => {
    const [row] = await db.query<{ second: number }>(
      'select extract(second from now())::integer as second',
    );
    return row?.second ?? 0;
  };
  await expect.poll(second, { timeout: 30_000, interval: 200 }).toBeLessThan(40);
}
