// How far the database's clock and ours are apart: expiries are judged by its, signatures by ours.
import type { Queryable } from './client.ts';
import { findDatabaseTime } from './database-time.ts';

/** In milliseconds, positive where the database's is ahead; what the way takes is halved between both directions. */
export async function measureDatabaseLead(db: Queryable, own = Date.now): Promise<number> {
  const askedAt = own();
  const now = await findDatabaseTime(db);
  const midway = (askedAt + own()) / 2;
  return now.getTime() - midway;
}
