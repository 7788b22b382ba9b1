// How much of table uploads waits to be processed, and for how long, read by the indexes of what is under way alone.
import { byTime } from './by-time.ts';
import type { Queryable } from './client.ts';
import { countWaiting, type Waiting } from './count-waiting.ts';

/**
 * Those that wait for a worker, for the first time or again as theirs is gone, and those that an outage put off: a worker
 * tries these again and again, and comes to nothing. What is worked on waits for nobody.
 */
export function countUploadsWaiting(db: Queryable): Promise<Waiting> {
  return countWaiting(
    db,
    `(select uploaded_at as since from uploads
      where status = 'uploaded' and ${byTime('uploaded_at')} order by uploaded_at limit $1)
     union all
     (select uploaded_at from uploads
      where status = 'processing' and (excused_count > 0 or lease_until <= now()) limit $1)`,
  );
}
