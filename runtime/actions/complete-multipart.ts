/**
 * The complete call of a multipart upload: the list of parts is the client's, the object is made of them, and from
 * there on it is completed as any other. Every refusal leaves the session `created`, so that it can be mended.
 * Spec: Upload session (status), a multipart complete.
 */
import { ServiceError } from '../core/errors.ts';
import { parseParts, refusePartsOfStorage } from '../core/resources/part-list.ts';
import type { UploadRow } from '../db/uploads.ts';
import { type Bucket, MultipartRefused, type PartList } from '../platform/storage/bucket.ts';
import { type CompleteUploadDeps, completeUpload } from './complete-upload.ts';

/** `parts` is the list as it came. Throws parts_required, invalid_parts, multipart_complete_failed, and as completeUpload. */
export async function completeMultipart(
  deps: CompleteUploadDeps,
  upload: UploadRow,
  parts: unknown,
): Promise<UploadRow> {
  const { storage_upload_id: upload_id, part_count } = upload;
  if (upload_id === null || part_count === null) throw new ServiceError('not_multipart');
  const isOver = upload.status !== 'created' || upload.is_expired;
  if (!isOver) {
    if (parts === undefined) throw partsRequired(part_count);
    const list = { upload_id, parts: parseParts(parts, part_count) };
    await assemble(deps.buckets.ingest, upload, list);
  }
  return completeUpload(deps, upload);
}

function partsRequired(part_count: number): ServiceError {
  const message = `This upload has ${part_count} parts. Send the list of all of them as parts, each with its part_number and the ETag that storage answered.`;
  return new ServiceError('parts_required', { message, details: { part_count } });
}

/** Whatever the storage answered: an object of the right size is the proof that it was done, now or before. */
async function assemble(ingest: Bucket, upload: UploadRow, list: PartList): Promise<void> {
  try {
    await ingest.completeMultipart(upload.ingest_key, list);
  } catch (error) {
    const head = await ingest.head(upload.ingest_key);
    if (head?.size_bytes === upload.size_bytes) return;
    if (!(error instanceof MultipartRefused)) throw error;
    throw refusal(error, list.parts.length);
  }
}

function refusal(cause: MultipartRefused, partCount: number): ServiceError {
  if (cause.code === 'invalid_parts') return refusePartsOfStorage(partCount, cause.message, cause);
  const { message } = new ServiceError(cause.code);
  return new ServiceError(cause.code, {
    message: `${message} Storage says: ${cause.message}.`,
    cause,
  });
}
