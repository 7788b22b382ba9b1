/**
 * Changes what a file is called and where it lies, with the audit entry in the same transaction; what changes nothing
 * leaves no trace. Nothing is purged: no delivery depends on it. Spec: Files.
 */
import { ServiceError } from '../core/errors.ts';
import type { PatchFile } from '../core/resources/file.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Database, Transaction } from '../db/client.ts';
import { type FileChanges, type FileRow, lockLiveFile, updateFile } from '../db/files.ts';
import { type PlaceSettings, requirePlace } from './require-place.ts';

export type FileChange = {
  project_id: string;
  file_slug: string;
  wish: PatchFile;
  settings: PlaceSettings;
  actor: Actor;
};

/** Throws file_not_found, and what a wrong place throws. */
export async function changeFile(db: Database, change: FileChange): Promise<FileRow> {
  const { title, alt_text } = change.wish;
  const folder = requirePlace(change.wish, change.settings);
  return db.transaction((tx) => writeChanges(tx, change, { title, alt_text, folder }));
}

/** Each undefined where it stays. */
type Wanted = { [field in 'title' | 'alt_text' | 'folder']: FileRow[field] | undefined };

async function writeChanges(
  tx: Transaction,
  { project_id, file_slug, actor }: FileChange,
  wanted: Wanted,
): Promise<FileRow> {
  const file = await lockLiveFile(tx, { project_id, file_slug });
  if (file === undefined) throw new ServiceError('file_not_found');
  const fields = (['title', 'alt_text', 'folder'] as const).filter(
    (field) => wanted[field] !== undefined && wanted[field] !== file[field],
  );
  if (fields.length === 0) return file;
  const pick = (from: Partial<Wanted>): FileChanges =>
    Object.fromEntries(fields.map((field) => [field, from[field]]));
  const changed = await updateFile(tx, { project_id, file_slug, changes: pick(wanted) });
  if (changed === undefined) throw new Error(`${file.file_id} is locked and gone`);
  await insertAuditEntry(tx, {
    project_id,
    ...actor,
    action: 'file.update',
    target: file.file_id,
    before: { file_slug, ...pick(file) },
    after: { file_slug, ...pick(changed) },
  });
  return changed;
}
