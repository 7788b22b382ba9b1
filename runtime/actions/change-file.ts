/**
 * Changes a file's titles and place, with the audit entry in the same transaction; a change without effect leaves no
 * trace. Nothing is purged, because no delivery depends on these fields. Spec: Files.
 */
import { ServiceError } from '../core/errors.ts';
import type { PatchFile } from '../core/resources/file.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Database, Transaction } from '../db/client.ts';
import { type FileChanges, type FileRow, lockLiveFile, updateFile } from '../db/files.ts';
import { lockLibraryShared } from '../db/libraries.ts';
import { requireFilterable, type SizeSettings } from './require-filterable.ts';
import { type Place, type PlaceSettings, requirePlace } from './require-place.ts';

export type FileChange = {
  project_id: string;
  file_slug: string;
  input: PatchFile;
  settings: PlaceSettings & SizeSettings;
  actor: Actor;
};

/** Throws file_not_found, filter_unavailable and the errors of an invalid place. */
export function changeFile(db: Database, change: FileChange): Promise<FileRow> {
  return db.transaction((tx) => writeChanges(tx, change));
}

async function writeChanges(tx: Transaction, change: FileChange): Promise<FileRow> {
  const { project_id, file_slug, actor, input, settings } = change;
  const place = await requirePlace(tx, { project_id, input, settings, find: lockLibraryShared });
  const isPlaced = input.library !== undefined || input.folder !== undefined;
  // After the place was checked: an invalid place is reported whatever the project's size.
  if (isPlaced) await requireFilterable(tx, { project_id, needs: 'indexes', settings });
  const file = await lockLiveFile(tx, { project_id, file_slug });
  if (file === undefined) throw new ServiceError('file_not_found');
  const changes = realChanges(file, input, place);
  if (Object.keys(changes).length === 0) return file;
  const changed = await updateFile(tx, { project_id, file_slug, changes });
  if (changed === undefined) throw new Error(`${file.file_id} is locked and gone`);
  await insertAuditEntry(tx, {
    project_id,
    ...actor,
    action: 'file.update',
    target: file.file_id,
    before: { file_slug, ...audited(file, changes) },
    after: { file_slug, ...audited(changed, changes) },
  });
  return changed;
}

/** A move to another library without a folder puts the file into the library's root. */
function realChanges(file: FileRow, { title, alt_text }: PatchFile, place: Place): FileChanges {
  const { library_id } = place;
  const isMoved = library_id !== undefined && library_id !== file.library_id;
  const folder = place.folder ?? (isMoved ? '' : undefined);
  const wanted = { title, alt_text, folder, library_id };
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([field, value]) => value !== undefined && value !== file[field as keyof typeof wanted],
    ),
  );
}

/** The audit entry names a library by its slug. */
function audited(file: FileRow, changes: FileChanges): Record<string, string | null> {
  const fields = Object.keys(changes) as (keyof FileChanges)[];
  return Object.fromEntries(
    fields.map((field) =>
      field === 'library_id' ? ['library', file.library] : [field, file[field]],
    ),
  );
}
