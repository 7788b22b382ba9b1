/**
 * Deletes objects that no row refers to: masters and intermediate images that were never published, derived images of
 * files or revisions that are gone, and multipart uploads without a session. Each run walks a part of the content
 * bucket.
 * Spec: Upload session (status); Caching and response headers.
 */
import { DAY_MS, HOUR_MS } from '../core/durations.ts';
import { DERIVED_UNREAD_SECONDS_MAX } from '../core/limits.ts';
import {
  findFirstUploadTime,
  listDerivedOwners,
  listUploadContents,
} from '../db/content-owners.ts';
import { listDerivedReads } from '../db/derived-reads.ts';
import { listLiveMultiparts } from '../db/uploads.ts';
import type { ListedObject } from '../platform/storage/bucket.ts';
import { readDerivedKey, readMasterKey } from '../platform/storage/content-keys.ts';
import type { JobContext, JobCounts } from './job.ts';
import { walkBucket } from './walk-bucket.ts';

const GRACE_MS = HOUR_MS;
/** After a restore, an unknown upload may still be in a newer backup of the database. */
const UNKNOWN_GRACE_MS = 30 * DAY_MS;
const OBJECTS_A_RUN_MAX = 100_000;
const MULTIPARTS_PAGE_MAX = 500;

export async function contentSweep(context: JobContext): Promise<JobCounts> {
  const bucket = context.buckets.content;
  const walk = { bucket, grace_ms: GRACE_MS, objects_max: OBJECTS_A_RUN_MAX };
  return {
    masters: await walkBucket(context, {
      ...walk,
      sweep: 'masters',
      prefix: 'masters/',
      judge: (objects) => unpublished(context, objects),
    }),
    derived: await walkBucket(context, {
      ...walk,
      sweep: 'derived',
      prefix: 'derived/',
      judge: (objects) => outdated(context, objects),
    }),
    multiparts: await abortDangling(context),
  };
}

/** The transaction that ends an upload names all objects that it publishes; none is added later. */
async function unpublished({ db, clock }: JobContext, objects: ListedObject[]): Promise<string[]> {
  const ids = objects.flatMap(({ key }) => readMasterKey(key)?.upload_id ?? []);
  const uploads = await listUploadContents(db, [...new Set(ids)]);
  const contents = new Map(uploads.map((upload) => [upload.upload_id, upload]));
  const longAgo = clock.now().getTime() - UNKNOWN_GRACE_MS;
  // A new database beside an old bucket knows none of its objects, which may be the only copies:
  // anything older than the first upload is kept.
  const known_from = (await findFirstUploadTime(db))?.getTime() ?? Number.POSITIVE_INFINITY;
  const isOrphan = (written: number) => written >= known_from && written <= longAgo;
  return objects
    .filter(({ key, modified_at }) => {
      const id = readMasterKey(key)?.upload_id;
      if (id === undefined) return false;
      const upload = contents.get(id);
      if (upload === undefined) return isOrphan(modified_at.getTime());
      return upload.has_ended && !upload.object_keys.includes(key);
    })
    .map(({ key }) => key);
}

async function outdated({ db, clock }: JobContext, objects: ListedObject[]): Promise<string[]> {
  const ids = objects.flatMap(({ key }) => readDerivedKey(key)?.file_id ?? []);
  const owners = new Map(
    (await listDerivedOwners(db, [...new Set(ids)])).map((owner) => [owner.file_id, owner]),
  );
  const longAgo = new Date(clock.now().getTime() - DERIVED_UNREAD_SECONDS_MAX * 1000);
  const old = objects.filter(({ modified_at }) => modified_at <= longAgo).map(({ key }) => key);
  const unread = new Set(old);
  for (const key of await listDerivedReads(db, { keys: old, since: longAgo })) unread.delete(key);
  return objects
    .filter(({ key }) => {
      const made = readDerivedKey(key);
      if (made === undefined) return false;
      const owner = owners.get(made.file_id);
      const isCurrent = owner?.generation === made.generation && owner.revision === made.revision;
      return !isCurrent || unread.has(key);
    })
    .map(({ key }) => key);
}

export async function abortDangling(
  context: JobContext,
  { page_max = MULTIPARTS_PAGE_MAX }: { page_max?: number } = {},
): Promise<number> {
  const { db, buckets, clock, signal } = context;
  const youngest = clock.now().getTime() - GRACE_MS;
  let aborted = 0;
  for (let after = ''; ; ) {
    signal.throwIfAborted();
    const page = await buckets.ingest.listMultiparts({ prefix: '', after, limit: page_max });
    const old = page.filter(({ started_at }) => started_at.getTime() <= youngest);
    const live = new Set(
      await listLiveMultiparts(
        db,
        old.map(({ key }) => key),
      ),
    );
    for (const one of old.filter(({ upload_id }) => !live.has(upload_id))) {
      aborted += (await abort(context, one)) ? 1 : 0;
    }
    after = page.at(-1)?.key ?? '';
    if (page.length < page_max) return aborted;
  }
}

/** If the storage fails to abort one, the next run tries again. */
async function abort(
  { buckets, log }: JobContext,
  { key, upload_id }: { key: string; upload_id: string },
): Promise<boolean> {
  try {
    await buckets.ingest.abortMultipart(key, upload_id);
    log.info('an unknown multipart upload was aborted', { object_key: key });
    return true;
  } catch (error) {
    log.warn('a multipart upload could not be aborted', { object_key: key, error });
    return false;
  }
}
