/**
 * The only way an upload becomes a file: revision, counters, upload ready, webhook, purge and audit in one transaction
 * under the project's row lock. Nothing is written if another attempt has taken over.
 * Spec: States and transitions, Upload session, File; Event kinds, upload.ready.
 */
import { printDeliveryId } from '../core/events.ts';
import { newId } from '../core/ids.ts';
import { insertAuditEntry } from '../db/audit-log.ts';
import type { Database, Queryable, Transaction } from '../db/client.ts';
import { insertFileRevision } from '../db/file-revisions.ts';
import { type FileRow, findFileById, type RevisionFacts } from '../db/files.ts';
import { insertCheck } from '../db/scan-claims.ts';
import { type Attempt, lockUploadAttempt, updateUploadReady } from '../db/upload-processing.ts';
import { findUpload, type UploadRow } from '../db/uploads.ts';
import { hasWatermarkPresetOfFile } from '../db/watermark-presets.ts';
import type { Clock } from '../platform/clock.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import { purgeFile, purgeProject } from './purge.ts';
import { recordWebhook } from './record-webhook.ts';

export type PublishDeps = {
  db: Database;
  clock: Clock;
  failpoint?: Failpoint;
  /** Whether the deployment has a scanner, which checks each new revision later. */
  is_scanned?: boolean;
};

export type Publication = Attempt & {
  facts: RevisionFacts;
  taken_at: Date | null;
  location: { latitude: number; longitude: number } | null;
};

/** Returns the file's current row; undefined if the attempt is over and its work is void. */
export async function publishFile(
  { db, clock, failpoint, is_scanned }: PublishDeps,
  publication: Publication,
): Promise<FileRow | undefined> {
  const work = async (tx: Transaction) => {
    const now = clock.now();
    const file = await publish(tx, publication, now);
    if (file !== undefined && is_scanned === true) {
      await insertCheck(tx, { ...file, check_id: newId('chk', now.getTime()) });
    }
    await failpoint?.('ingest.before_commit');
    return file;
  };
  return db.transaction(work, {
    settle: (fresh) => findPublished(fresh, publication.upload_id),
  });
}

async function publish(
  tx: Transaction,
  publication: Publication,
  now: Date,
): Promise<FileRow | undefined> {
  const upload = await lockUploadAttempt(tx, publication);
  if (upload === undefined) return undefined;
  const file = await insertFileRevision(tx, {
    ...publication.facts,
    ...namesOf(upload),
    new_file_id: newId('file', now.getTime()),
    taken_at: publication.taken_at,
    latitude: publication.location?.latitude ?? null,
    longitude: publication.location?.longitude ?? null,
  });
  const { file_id, revision } = file;
  await updateUploadReady(tx, { ...publication, file_id, revision });
  await insertReadyEvent(tx, { upload_id: upload.upload_id, file });
  if (revision > 1) await purgeOldRevision(tx, file);
  await insertAuditEntry(tx, {
    project_id: file.project_id,
    actor_kind: 'system',
    action: 'file.publish',
    target: file_id,
    after: { upload_id: upload.upload_id, file_slug: file.file_slug, revision },
  });
  return file;
}

function namesOf(upload: UploadRow) {
  const { project_id, upload_id, file_slug, library_id, folder } = upload;
  const { title, original_filename, uploader } = upload;
  const place = { project_id, upload_id, file_slug, library_id, folder };
  return { ...place, title, original_filename, uploader };
}

async function insertReadyEvent(
  tx: Transaction,
  { upload_id, file }: { upload_id: string; file: FileRow },
): Promise<void> {
  const { project_id, file_id, file_slug, sha256, revision } = file;
  const event = 'upload.ready';
  const data = { upload_id, project_id, file_id, file_slug, sha256, revision };
  const id = printDeliveryId(event, data);
  await recordWebhook(tx, { id, event, data });
}

/** A file used as a watermark changes other images too, so the whole project is purged. */
async function purgeOldRevision(tx: Transaction, file: FileRow): Promise<void> {
  const { project_id } = file;
  const reason = 'file_reuploaded';
  const isDrawn = await hasWatermarkPresetOfFile(tx, file.file_id);
  if (isDrawn) await purgeProject(tx, { project_id, reason });
  else await purgeFile(tx, file, reason);
}

async function findPublished(db: Queryable, uploadId: string): Promise<FileRow | undefined> {
  const upload = await findUpload(db, uploadId);
  if (upload?.status !== 'ready' || upload.file_id === null) return undefined;
  return findFileById(db, upload.file_id);
}
