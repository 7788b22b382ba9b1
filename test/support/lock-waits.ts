/** Waits until statements are blocked by locks. */
import { expect } from 'vitest';
import type { Queryable } from '../../runtime/db/client.ts';

const WAITING = `select from pg_stat_activity
  where wait_event_type = 'Lock' and datname = current_database()`;

/** Waits until exactly this many statements of the database wait for locks. */
export async function untilWaiting(db: Queryable, statements: number): Promise<void> {
  await expect.poll(() => countWaiting(db)).toBe(statements);
}

export async function countWaiting(db: Queryable): Promise<number> {
  return (await db.query(WAITING)).length;
}
