/** Deletes what nobody needs. An object that cannot be deleted is left to the next run, and keeps no other one waiting. */
import type { Bucket } from '../platform/storage/bucket.ts';
import type { JobContext } from './job.ts';

/** `of` is what the log says of it. */
export async function deleteObject(
  { log }: Pick<JobContext, 'log'>,
  bucket: Bucket,
  of: { object_key: string; bucket?: string },
): Promise<boolean> {
  try {
    await bucket.delete(of.object_key);
    return true;
  } catch (error) {
    log.warn('an object could not be deleted', { ...of, error });
    return false;
  }
}
