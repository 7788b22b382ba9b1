/**
 * Walks a bucket in parts: each run examines a limited number of objects, and the next one continues after them. Young
 * objects are skipped, because the row of a stored object appears soon or never.
 */
import { deleteObject } from '../actions/delete-object.ts';
import { findSweepPosition, upsertSweepPosition } from '../db/sweep-positions.ts';
import type { Bucket, ListedObject } from '../platform/storage/bucket.ts';
import type { JobContext } from './job.ts';

export type Walk = {
  /** The name under which the position is stored. */
  sweep: string;
  bucket: Bucket;
  prefix: string;
  grace_ms: number;
  objects_max: number;
  page_max?: number;
  /** Returns the keys that nobody needs. */
  judge(objects: ListedObject[]): Promise<string[]>;
};

const PAGE_MAX = 500;

/** Returns the number of deleted objects. */
export async function walkBucket(context: JobContext, walk: Walk): Promise<number> {
  const { db, clock, log, signal } = context;
  const { sweep, bucket, prefix, grace_ms, objects_max, page_max = PAGE_MAX } = walk;
  const youngest = clock.now().getTime() - grace_ms;
  let deleted = 0;
  let after = await findSweepPosition(db, sweep);
  for (let seen = 0; seen < objects_max; ) {
    signal.throwIfAborted();
    const page = await bucket.list({
      prefix,
      after,
      limit: Math.min(page_max, objects_max - seen),
    });
    const old = page.filter(({ modified_at }) => modified_at.getTime() <= youngest);
    for (const key of old.length === 0 ? [] : await walk.judge(old)) {
      if (!(await deleteObject(context, bucket, { object_key: key }))) continue;
      log.info('an unreferenced object was deleted', { object_key: key });
      deleted += 1;
    }
    seen += page.length;
    after = page.at(-1)?.key ?? '';
    if (page.length === 0) break;
    await upsertSweepPosition(db, { sweep, after_key: after });
  }
  if (after === '') await upsertSweepPosition(db, { sweep, after_key: '' });
  return deleted;
}
