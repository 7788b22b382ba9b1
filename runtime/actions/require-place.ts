/**
 * The place requested for a file or upload: finds the library, normalizes the folder. Spec: Uploads; Files; Libraries.
 */
import { ServiceError } from '../core/errors.ts';
import { requireFolder } from '../core/resources/file-query.ts';
import { DEFAULT_LIBRARY, parseLibraryName } from '../core/slug.ts';
import type { Queryable } from '../db/client.ts';
import { findLibrary, type LibraryRow } from '../db/libraries.ts';

type PlaceInput = { library?: string | undefined; folder?: string | undefined };
export type PlaceSettings = { readonly mediaLibraryWrites: 'enabled' | 'disabled' };

/** Fields that were not named are undefined; the default library is null. */
export type Place = { library_id: string | null | undefined; folder: string | undefined };

type Placing = {
  project_id: string;
  input: PlaceInput;
  settings: PlaceSettings;
  find?: FindLibrary;
};
type FindLibrary = typeof findLibrary;

/** Throws media_library_disabled, library_not_found and invalid_folder. */
export async function requirePlace(
  db: Queryable,
  { project_id, input, settings, find = findLibrary }: Placing,
): Promise<Place> {
  const { library, folder } = input;
  if (library === undefined && folder === undefined) return { library_id: undefined, folder };
  requireLibraryWrites(settings);
  const path = folder === undefined ? undefined : requireFolder(folder);
  if (library === undefined) return { library_id: undefined, folder: path };
  const found = await requireLibrary(db, { project_id, library, find });
  return { library_id: found?.library_id ?? null, folder: path };
}

/** Throws media_library_disabled. */
export function requireLibraryWrites({ mediaLibraryWrites }: PlaceSettings): void {
  if (mediaLibraryWrites === 'disabled') throw new ServiceError('media_library_disabled');
}

/** The named library; undefined for the default one. Throws library_not_found. */
export async function requireLibrary(
  db: Queryable,
  {
    project_id,
    library,
    find = findLibrary,
  }: { project_id: string; library: string; find?: FindLibrary },
): Promise<LibraryRow | undefined> {
  const library_slug = parseLibraryName(library);
  if (library_slug === DEFAULT_LIBRARY) return undefined;
  const row = library_slug && (await find(db, { project_id, library_slug }));
  if (!row) throw new ServiceError('library_not_found');
  return row;
}
