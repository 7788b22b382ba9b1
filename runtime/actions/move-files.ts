/**
 * Moves many files to a folder, and to another library if one is named, in one transaction with their audit entries.
 * Nothing is purged and no webhook is sent, because no delivery depends on a place. Spec: Files (move).
 */
import type { MovedFilesRecord, MoveFiles } from '../core/resources/file.ts';
import { type Actor, insertAuditEntries } from '../db/audit-log.ts';
import type { Database, Transaction } from '../db/client.ts';
import { lockLiveFiles, type PlacedFile, updateFilePlaces } from '../db/file-places.ts';
import { lockLibraryShared } from '../db/libraries.ts';
import { requireFilterable, type SizeSettings } from './require-filterable.ts';
import { type PlaceSettings, requirePlace } from './require-place.ts';

export type FileMove = {
  project_id: string;
  input: MoveFiles;
  settings: PlaceSettings & SizeSettings;
  actor: Actor;
};

/** Throws media_library_disabled, invalid_folder, library_not_found and filter_unavailable. */
export function moveFiles(db: Database, move: FileMove): Promise<MovedFilesRecord> {
  return db.transaction((tx) => moveAll(tx, move));
}

async function moveAll(tx: Transaction, move: FileMove): Promise<MovedFilesRecord> {
  const { project_id, input, settings, actor } = move;
  const { library_id, folder = '' } = await requirePlace(tx, { ...move, find: lockLibraryShared });
  await requireFilterable(tx, { project_id, needs: 'indexes', settings });
  const before = await lockLiveFiles(tx, { project_id, file_slugs: input.file_slugs });
  const isElsewhere = (file: PlacedFile) =>
    file.folder !== folder || (library_id !== undefined && library_id !== file.library_id);
  const changed = before.filter(isElsewhere);
  const file_ids = changed.map(({ file_id }) => file_id);
  const after = await updateFilePlaces(tx, { file_ids, folder, library_id });
  const now = new Map([...before, ...after].map((file) => [file.file_slug, placeOf(file)]));
  await insertAuditEntries(
    tx,
    changed.map((file) => ({
      ...actor,
      project_id,
      action: 'file.update',
      target: file.file_id,
      before: placeOf(file),
      after: now.get(file.file_slug),
    })),
  );
  return {
    moved: input.file_slugs.flatMap((slug) => now.get(slug) ?? []),
    not_found: input.file_slugs.filter((slug) => !now.has(slug)),
  };
}

function placeOf({ file_slug, library, folder }: PlacedFile) {
  return { file_slug, library, folder };
}
