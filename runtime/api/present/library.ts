/** A library as the API answers it; the default library is derived from its project. Spec: Library. */
import type { ChangedLibrary } from '../../actions/change-library.ts';
import type { LibraryRecord } from '../../core/resources/library.ts';
import { DEFAULT_LIBRARY } from '../../core/slug.ts';
import type { LibraryRow } from '../../db/libraries.ts';

export function presentLibrary(row: LibraryRow): LibraryRecord {
  return {
    slug: row.library_slug,
    name: row.name,
    allowed_origins: row.allowed_origins,
    library_id: row.library_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function presentDefaultLibrary({
  library_origins,
}: {
  library_origins: string[];
}): LibraryRecord {
  return {
    slug: DEFAULT_LIBRARY,
    name: 'Default',
    allowed_origins: library_origins,
    library_id: null,
    created_at: null,
    updated_at: null,
  };
}

export function presentChangedLibrary(changed: ChangedLibrary): LibraryRecord {
  return changed.kind === 'named'
    ? presentLibrary(changed.row)
    : presentDefaultLibrary(changed.project);
}
