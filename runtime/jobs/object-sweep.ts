/**
 * Deletes objects that nothing needs: those that a transition doomed, after their grace period, and those in the ingest
 * bucket that no open upload knows, such as bytes that arrived after their upload had ended.
 */
import { deleteObject } from '../actions/delete-object.ts';
import { HOUR_MS } from '../core/durations.ts';
import {
  claimDoomedObjects,
  type DoomedObjectRow,
  deleteDoomedObject,
} from '../db/doomed-objects.ts';
import { listLiveIngestKeys } from '../db/uploads.ts';
import type { ListedObject } from '../platform/storage/bucket.ts';
import type { JobContext } from './job.ts';

const PAGE_MAX = 200;
/** After this time, another run takes over an unfinished deletion. */
const LEASE_SECONDS = 120;

type Paging = { page_max?: number };

export async function deleteDoomed(
  context: JobContext,
  { page_max = PAGE_MAX }: Paging = {},
): Promise<number> {
  let deleted = 0;
  for (;;) {
    context.signal.throwIfAborted();
    const page = await claimDoomedObjects(context.db, {
      limit: page_max,
      lease_seconds: LEASE_SECONDS,
    });
    for (const doomed of page) deleted += (await deleteWithRow(context, doomed)) ? 1 : 0;
    if (page.length < page_max) return deleted;
  }
}

/** Deletes the row last, so that an interrupted deletion is repeated. */
async function deleteWithRow(context: JobContext, doomed: DoomedObjectRow): Promise<boolean> {
  const { bucket, object_key, doomed_id } = doomed;
  const isGone = await deleteObject(context, context.buckets[bucket], { bucket, object_key });
  if (isGone) await deleteDoomedObject(context.db, doomed_id);
  return isGone;
}

/** No upload that could still need an object is older than this. */
const LEFT_BEHIND_AGE_MS = HOUR_MS;

/** An upload's row exists before its URL, so an object without a row belongs to nobody. */
export async function deleteOrphanedObjects(
  context: JobContext,
  { page_max = PAGE_MAX }: Paging = {},
): Promise<number> {
  const { ingest } = context.buckets;
  const youngest = context.clock.now().getTime() - LEFT_BEHIND_AGE_MS;
  let deleted = 0;
  for (let after = ''; ; ) {
    context.signal.throwIfAborted();
    const page = await ingest.list({ prefix: '', limit: page_max, after });
    const old = page.filter(({ modified_at }) => modified_at.getTime() <= youngest);
    for (const key of await listOrphans(context, old)) {
      const of = { bucket: 'ingest', object_key: key };
      deleted += (await deleteObject(context, ingest, of)) ? 1 : 0;
    }
    after = page.at(-1)?.key ?? '';
    if (page.length < page_max) return deleted;
  }
}

async function listOrphans({ db }: JobContext, objects: ListedObject[]): Promise<string[]> {
  if (objects.length === 0) return [];
  const keys = objects.map(({ key }) => key);
  const live = new Set(await listLiveIngestKeys(db, keys));
  return keys.filter((key) => !live.has(key));
}
