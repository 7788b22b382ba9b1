/**
 * The end of an upload that cannot become a file: failed with its code, reservation returned, audited.
 * Spec: States and transitions, Upload session; Processing error codes.
 */
import type { ProcessingErrorCode } from '../core/errors.ts';
import { insertAuditEntry } from '../db/audit-log.ts';
import type { Database, Queryable, Transaction } from '../db/client.ts';
import { type Attempt, updateUploadFailed } from '../db/upload-processing.ts';
import { findUpload, type UploadRow } from '../db/uploads.ts';

export type UploadFailure = Attempt & { error_code: ProcessingErrorCode };

/** Undefined when the attempt is over. */
export async function failUpload(
  { db }: { db: Database },
  failure: UploadFailure,
): Promise<UploadRow | undefined> {
  return db.transaction((tx) => fail(tx, failure), {
    settle: (fresh) => findFailed(fresh, failure.upload_id),
  });
}

async function fail(tx: Transaction, failure: UploadFailure): Promise<UploadRow | undefined> {
  const upload = await updateUploadFailed(tx, failure);
  if (upload === undefined) return undefined;
  await insertAuditEntry(tx, {
    project_id: upload.project_id,
    actor_kind: 'system',
    action: 'upload.fail',
    target: upload.upload_id,
    after: { error_code: failure.error_code, attempt: failure.attempt },
  });
  return upload;
}

async function findFailed(db: Queryable, uploadId: string): Promise<UploadRow | undefined> {
  const upload = await findUpload(db, uploadId);
  return upload?.status === 'failed' ? upload : undefined;
}
