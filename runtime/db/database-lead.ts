// The difference between the database's clock and ours: expiries are judged by the database's, signatures by ours.
import type { Queryable } from './client.ts';
import { findDatabaseTime } from './database-time.ts';

/**
 * In milliseconds, positive if the database's clock is ahead; assumes that the round trip takes
 * equally long in both directions.
 */
export async function measureDatabaseLead(db: Queryable, own = Date.now): Promise<number> {
  const askedAt = own();
  const now = await findDatabaseTime(db);
  const midway = (askedAt + own()) / 2;
  return now.getTime() - midway;
}
