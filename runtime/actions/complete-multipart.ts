/**
 * The complete call of a multipart upload: the object is joined from the client's list of parts, and then completed
 * like any other. A refused list leaves the session `created`, so that the client can correct it; bytes that do not
 * match the declared sha256 end it.
 * Spec: Upload session (status), a multipart complete.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../core/errors.ts';
import { parseParts, refusePartsOfStorage } from '../core/resources/part-list.ts';
import { findUpload, type UploadRow } from '../db/uploads.ts';
import { type Bucket, MultipartRefused, type PartList } from '../platform/storage/bucket.ts';
import { type CompleteUploadDeps, completeUpload } from './complete-upload.ts';
import { uploadExpired } from './upload-refusals.ts';

/**
 * `parts` is the unchecked list. Throws parts_required, invalid_parts, multipart_complete_failed
 * and the errors of completeUpload.
 */
export async function completeMultipart(
  deps: CompleteUploadDeps,
  upload: UploadRow,
  parts: unknown,
): Promise<UploadRow> {
  const { storage_upload_id: upload_id, part_count } = upload;
  if (upload_id === null || part_count === null) throw new ServiceError('not_multipart');
  if (upload.status !== 'created') return completeUpload(deps, upload);
  if (upload.is_expired) throw uploadExpired(upload);
  if (parts === undefined) throw partsRequired(part_count);
  return completeParts(deps, upload, { upload_id, parts: parseParts(parts, part_count) });
}

function isOver({ status, is_expired }: UploadRow): boolean {
  return status !== 'created' || is_expired;
}

/** Half a minute in total, about the longest that one call to the storage may take. */
const PAUSES_MS = [50, 200, 750, 2000, 4000, 8000, 15_000];

/**
 * Some storages answer success to one call while they still assemble the object for another. This
 * repeats the call until the object exists, the list is refused, or another caller has moved the
 * session.
 */
async function completeParts(
  deps: CompleteUploadDeps,
  upload: UploadRow,
  list: PartList,
): Promise<UploadRow> {
  let known = upload;
  for (const milliseconds of PAUSES_MS) {
    if (!isOver(known)) known = await assembleOrEnd(deps, known, list);
    try {
      return await completeUpload(deps, known);
    } catch (error) {
      const isMissing = error instanceof ServiceError && error.code === 'ingest_object_missing';
      if (!isMissing) throw error;
    }
    await sleep(milliseconds);
    known = (await findUpload(deps.db, upload.upload_id)) ?? known;
  }
  return completeUpload(deps, known);
}

function partsRequired(part_count: number): ServiceError {
  const message = `This upload has ${part_count} parts. Send the list of all of them as parts, each with its part_number and the ETag that storage returned.`;
  return new ServiceError('parts_required', { message, details: { part_count } });
}

/** If the session ended meanwhile, reports its abort or expiry, not the storage's error. */
async function assembleOrEnd(
  { db, buckets }: CompleteUploadDeps,
  upload: UploadRow,
  list: PartList,
): Promise<UploadRow> {
  try {
    await assemble(buckets.ingest, upload, list);
    return upload;
  } catch (error) {
    const known = (await findUpload(db, upload.upload_id)) ?? upload;
    if (isOver(known)) return known;
    throw error;
  }
}

/** Whatever the storage answers, an object of the right size proves that the parts were joined. */
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
