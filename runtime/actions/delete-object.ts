/** Deletes what nobody needs. An object that cannot be deleted is left to the next sweep, and keeps nothing else waiting. */
import type { Log } from '../platform/log.ts';
import type { Bucket } from '../platform/storage/bucket.ts';

/** `of` is what the log says of it. */
export async function deleteObject(
  { log }: { readonly log: Log },
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
