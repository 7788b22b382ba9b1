/** Waiting for what is about to happen: a statement that stands behind a lock. */
import { expect } from 'vitest';
import type { Queryable } from '../../runtime/db/client.ts';

const WAITING = `select from pg_stat_activity
  where wait_event_type = 'Lock' and datname = current_database()`;

/** Until one statement of the database waits for what another transaction holds. */
export async function untilOneWaits(db: Queryable): Promise<void> {
  await expect.poll(() => db.query(WAITING)).toHaveLength(1);
}
