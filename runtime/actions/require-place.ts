/**
 * Where a file or an upload is to lie, as a caller asks for it. Only the default library is known.
 * Spec: Uploads; Files.
 */
import { ServiceError } from '../core/errors.ts';
import { requireFolder } from '../core/resources/file-query.ts';
import { DEFAULT_LIBRARY, parseLibraryName } from '../core/slug.ts';

type PlaceWish = { library?: string | undefined; folder?: string | undefined };
export type PlaceSettings = { readonly mediaLibraryWrites: 'enabled' | 'disabled' };

/**
 * The normalized folder, undefined where none was named. Throws media_library_disabled, library_not_found and
 * invalid_folder.
 */
export function requirePlace(
  { library, folder }: PlaceWish,
  { mediaLibraryWrites }: PlaceSettings,
): string | undefined {
  if (library === undefined && folder === undefined) return undefined;
  if (mediaLibraryWrites === 'disabled') throw new ServiceError('media_library_disabled');
  if (library !== undefined) requireLibrary(library);
  return folder === undefined ? undefined : requireFolder(folder);
}

/** Throws library_not_found. */
export function requireLibrary(library: string): void {
  if (parseLibraryName(library) !== DEFAULT_LIBRARY) throw new ServiceError('library_not_found');
}
