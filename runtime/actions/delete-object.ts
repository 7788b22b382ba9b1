/** Deletes an object that nobody needs. A failure is left to the next sweep and does not stop the caller. */
import type { Log } from '../platform/log.ts';
import type { Bucket } from '../platform/storage/bucket.ts';

/** `of` is logged with a failure. */
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
