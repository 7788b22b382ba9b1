// How many uploads wait to be processed, and since when; only reads the indexes of uploads under way.

import type { Queryable } from './client.ts';
import { countWaiting, type Waiting } from './count-waiting.ts';
import { timeIndexHint } from './time-index-hint.ts';

/**
 * Uploads that wait for a worker, for the first time or again as theirs is gone, and those that an
 * outage put off: a worker tries these repeatedly, without success. An upload being processed does
 * not wait.
 */
export function countUploadsWaiting(db: Queryable): Promise<Waiting> {
  return countWaiting(
    db,
    `(select uploaded_at as since from uploads
      where status = 'uploaded' and ${timeIndexHint('uploaded_at')} order by uploaded_at limit $1)
     union all
     (select uploaded_at from uploads
      where status = 'processing' and (excused_count > 0 or lease_until <= now()) limit $1)`,
  );
}
