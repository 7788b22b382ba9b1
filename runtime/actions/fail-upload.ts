/**
 * Ends an upload that cannot become a file: it fails with its error code, the reservation is released, and the end is
 * audited.
 * Spec: States and transitions, Upload session; Processing error codes.
 */
import type { ProcessingErrorCode } from '../core/errors.ts';
import { insertAuditEntry } from '../db/audit-log.ts';
import type { Database, Queryable, Transaction } from '../db/client.ts';
import { type Attempt, updateUploadFailed } from '../db/upload-processing.ts';
import { findUpload, type UploadRow } from '../db/uploads.ts';

export type UploadFailure = Attempt & {
  error_code: ProcessingErrorCode;
  /** The digest of the bytes that were read, if another was declared. */
  stored_sha256?: string | undefined;
};

/** Returns undefined if the attempt is over. */
export async function failUpload(
  { db }: { db: Database },
  failure: UploadFailure,
): Promise<UploadRow | undefined> {
  return db.transaction((tx) => audited(tx, updateUploadFailed(tx, failure)), {
    settle: (fresh) => findFailed(fresh, failure.upload_id),
  });
}

type End = (tx: Transaction, uploadId: string) => Promise<UploadRow | undefined>;

/**
 * Fails an upload whose bytes were never accepted, by the statement given; undefined if the
 * statement no longer applies.
 */
export async function failUnprocessed(
  { db }: { db: Database },
  { upload_id }: Pick<UploadRow, 'upload_id'>,
  end: End,
): Promise<UploadRow | undefined> {
  return db.transaction((tx) => audited(tx, end(tx, upload_id)));
}

async function audited(tx: Transaction, ending: ReturnType<End>): ReturnType<End> {
  const upload = await ending;
  if (upload === undefined) return undefined;
  const { project_id, upload_id, error_code, attempt } = upload;
  await insertAuditEntry(tx, {
    project_id,
    actor_kind: 'system',
    action: 'upload.fail',
    target: upload_id,
    after: { error_code, attempt },
  });
  return upload;
}

async function findFailed(db: Queryable, uploadId: string): Promise<UploadRow | undefined> {
  const upload = await findUpload(db, uploadId);
  return upload?.status === 'failed' ? upload : undefined;
}
