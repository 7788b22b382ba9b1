/**
 * Deletes what attempts at an upload stored and did not publish: those that were killed, overtaken, or failed after
 * they had begun to write. Only an upload that has ended is looked at, so that nothing can still be published of it.
 */
import { listRepeatedUploads, type RepeatedUpload } from '../db/upload-processing.ts';
import { mastersOf } from '../platform/storage/content-keys.ts';
import type { JobContext } from './job.ts';

const PAGE = 200;
/** An attempt that was overtaken may still be writing for so long. */
const ENDED_SECONDS_MIN = 3600;
/** Runs once a day; after a week without a run, what is older stays. */
const ENDED_SECONDS_MAX = 8 * 24 * 3600;

/** Returns how many objects went. */
export async function deleteUnpublished(context: JobContext): Promise<number> {
  let deleted = 0;
  for (let after = ''; ; ) {
    context.signal.throwIfAborted();
    const ended = { seconds_min: ENDED_SECONDS_MIN, seconds_max: ENDED_SECONDS_MAX };
    const page = await listRepeatedUploads(context.db, { ...ended, after, limit: PAGE });
    for (const upload of page) deleted += await deleteRest(context, upload);
    after = page.at(-1)?.upload_id ?? '';
    if (page.length < PAGE) return deleted;
  }
}

async function deleteRest({ buckets }: JobContext, upload: RepeatedUpload): Promise<number> {
  const published = new Set(upload.object_keys);
  let deleted = 0;
  for (let after = ''; ; ) {
    const page = await buckets.content.list({ prefix: mastersOf(upload), after, limit: PAGE });
    for (const { key } of page.filter((object) => !published.has(object.key))) {
      await buckets.content.delete(key);
      deleted += 1;
    }
    after = page.at(-1)?.key ?? '';
    if (page.length < PAGE) return deleted;
  }
}
