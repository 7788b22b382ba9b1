/**
 * Compares the stored bytes of an upload with its declared sha256. Bytes that differ are read only once, however many
 * callers ask. A single part can be sent again until the session ends; joined parts cannot, so a mismatch ends their
 * session.
 * Spec: Upload session (status), created.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { type ErrorDetails, processingErrors, ServiceError } from '../core/errors.ts';
import type { Database } from '../db/client.ts';
import { updateUploadWrongDigest } from '../db/upload-ends.ts';
import { READ_BY_WORKER } from '../db/upload-processing.ts';
import { type UploadRow, updateUploadRefusedBytes } from '../db/uploads.ts';
import type { Bucket, ObjectHead } from '../platform/storage/bucket.ts';
import { failUnprocessed } from './fail-upload.ts';
import { ingestObjectMissing } from './upload-refusals.ts';

type CheckDigestDeps = { readonly db: Database; readonly buckets: { readonly ingest: Bucket } };

/**
 * `etag` identifies the object just found. Throws sha256_mismatch, or ingest_object_missing if the
 * object is gone.
 */
export async function checkDigest(
  deps: CheckDigestDeps,
  upload: UploadRow,
  { etag }: Pick<ObjectHead, 'etag'>,
): Promise<void> {
  const { sha256 } = upload;
  if (sha256 === null) return;
  const known = upload.refused_etag === etag ? upload.refused_sha256 : null;
  const stored_sha256 = known ?? (await readDigest(deps, upload));
  if (stored_sha256 === sha256) return;
  if (known === null) await recordRefusedBytes(deps, upload, { etag, sha256: stored_sha256 });
  const details = { sha256, stored_sha256 };
  if (isMultipart(upload)) {
    await failUnprocessed(deps, upload, updateUploadWrongDigest);
    throw finalRefusal(details);
  }
  throw new ServiceError('sha256_mismatch', { details });
}

const SEND_ANEW = processingErrors.sha256_mismatch.message;

/**
 * The digest refusal that ended an upload, for callers who complete it again; undefined if it
 * failed for another reason.
 */
export function findDigestRefusal(upload: UploadRow): ServiceError | undefined {
  const { error_code, sha256, refused_etag, refused_sha256: stored_sha256 } = upload;
  if (error_code !== 'sha256_mismatch' || stored_sha256 === null) return;
  // A single part may have been replaced after this digest was noted and before it was accepted.
  if (!isMultipart(upload) && refused_etag !== READ_BY_WORKER) return;
  return finalRefusal({ sha256, stored_sha256 });
}

function finalRefusal(details: ErrorDetails<'sha256_mismatch'>): ServiceError {
  return new ServiceError('sha256_mismatch', { message: SEND_ANEW, details });
}

/** The object of a multipart upload exists only after its parts were joined. */
export function isMultipart({ storage_upload_id }: UploadRow): boolean {
  return storage_upload_id !== null;
}

/** Only if the object is unchanged after reading: otherwise the digest may be of other bytes. */
async function recordRefusedBytes(
  { db, buckets }: CheckDigestDeps,
  { upload_id, ingest_key }: UploadRow,
  read: { etag: string; sha256: string },
): Promise<void> {
  const now = await buckets.ingest.head(ingest_key);
  if (now?.etag === read.etag) await updateUploadRefusedBytes(db, { upload_id, ...read });
}

async function readDigest({ buckets }: CheckDigestDeps, upload: UploadRow): Promise<string> {
  const body = await buckets.ingest.open(upload.ingest_key);
  if (body === undefined) throw ingestObjectMissing(upload);
  return digestOf(body);
}

async function digestOf(body: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}
