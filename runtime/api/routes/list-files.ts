/** Spec: Endpoints, Files: the list, with filters by library and by uploader. */
import { requireFilterable } from '../../actions/require-filterable.ts';
import { requireLibrary } from '../../actions/require-place.ts';
import { requirePseudonyms } from '../../actions/require-pseudonyms.ts';
import {
  type ListFilesQuery,
  listFilesQuery,
  parseLibraryFilters,
} from '../../core/resources/file-query.ts';
import { listFiles } from '../../db/file-lists.ts';
import { type LibraryFileFilters, listLibraryFiles } from '../../db/library-files.ts';
import type { ProjectRow } from '../../db/projects.ts';
import type { ApiDeps } from '../deps.ts';
import { projectEndpoint } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import { filePresenter } from '../present/file.ts';

const PATH = '/v1/projects/{slug}/files';

export const listProjectFiles = projectEndpoint({
  method: 'GET',
  path: PATH,
  auth: ['dash', 'key:files:read'],
  ok: 200,
  errors: [
    'library_not_found',
    'folder_requires_library',
    'filter_requires_library',
    'invalid_folder',
    'invalid_search',
    'invalid_bbox',
    'invalid_subject',
    'subject_key_unavailable',
    'filter_unavailable',
  ],
  query: listFilesQuery,
  handle: async ({ deps, project, query }) => {
    const { library, uploader } = query;
    if (library === undefined && uploader === undefined) return listAll(deps, project, query);
    const page = await listFiltered(deps, project, query);
    return uploader === undefined ? page : { ...page, filters: { uploader: true } };
  },
});

function listAll(deps: ApiDeps, project: ProjectRow, query: ListFilesQuery) {
  parseLibraryFilters(query);
  const { project_id } = project;
  const { status = null } = query;
  const q = query.q || null;
  return listPage(deps, {
    query,
    route: PATH,
    owner: project_id,
    filters: { status, q, library: null },
    find: (page) => listFiles(deps.db, { ...page, project_id, status, q }),
    present: filePresenter(deps.settings, project, query),
  });
}

async function listFiltered(deps: ApiDeps, project: ProjectRow, query: ListFilesQuery) {
  const { project_id } = project;
  const { sort, limit: _limit, cursor: _cursor, include: _include, ...asked } = query;
  const filters = await filtersOf(deps, project_id, query);
  const isLarge = filters.search !== undefined || filters.status === 'deleted';
  const needs = isLarge ? 'small' : 'indexes';
  await requireFilterable(deps.db, { project_id, needs, settings: deps.settings });
  return listPage(deps, {
    query,
    route: PATH,
    owner: project_id,
    sort,
    filters: asked,
    find: (page) => listLibraryFiles(deps.db, { ...page, project_id, sort, filters }),
    present: filePresenter(deps.settings, project, query),
  });
}

async function filtersOf(
  deps: ApiDeps,
  project_id: string,
  query: ListFilesQuery,
): Promise<LibraryFileFilters> {
  const { status, q, recursive, has_location, uploader: subject } = query;
  const library_id = await findLibraryId(deps, project_id, query);
  const { folder, search, bbox } = parseLibraryFilters(query);
  return {
    status,
    q: q || undefined,
    library_id,
    ...(recursive ? { subtree: folder } : { folder }),
    search,
    has_location,
    bbox,
    uploaders:
      subject === undefined
        ? undefined
        : requirePseudonyms(deps.libraryKeys, { project_id, subject }),
  };
}

/** Null: the default library; undefined: no library was requested. */
async function findLibraryId(
  { db }: ApiDeps,
  project_id: string,
  { library }: ListFilesQuery,
): Promise<string | null | undefined> {
  if (library === undefined) return undefined;
  return (await requireLibrary(db, { project_id, library }))?.library_id ?? null;
}
