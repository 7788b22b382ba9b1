/** Spec: Endpoints, Libraries. */
import { changeLibrary, createLibrary, deleteLibrary } from '../../actions/change-library.ts';
import { requireLibrary } from '../../actions/require-place.ts';
import { newId } from '../../core/ids.ts';
import {
  createLibraryBody,
  listLibrariesQuery,
  patchLibraryBody,
} from '../../core/resources/library.ts';
import { listLibraries } from '../../db/libraries.ts';
import { auditActor } from '../audit-actor.ts';
import { forgetSessions } from '../auth/library-session.ts';
import { type ProjectCall, projectEndpoint } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import {
  presentChangedLibrary,
  presentDefaultLibrary,
  presentLibrary,
} from '../present/library.ts';

export const listProjectLibraries = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/libraries',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  query: listLibrariesQuery,
  handle: async ({ deps, project: { project_id }, query }) =>
    listPage(deps, {
      query,
      route: '/v1/projects/{slug}/libraries',
      owner: project_id,
      find: (page) => listLibraries(deps.db, { ...page, project_id }),
      present: presentLibrary,
    }),
});

export const postLibrary = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/libraries',
  auth: ['dash', 'key:files:write'],
  ok: 201,
  effect: 'once',
  errors: [
    'not_supported',
    'invalid_library_slug',
    'library_slug_taken',
    'media_library_disabled',
    'filter_unavailable',
  ],
  body: createLibraryBody,
  handle: async (call) => {
    const library_id = newId('lib', call.deps.clock.now().getTime());
    const { body: input } = call;
    return presentLibrary(
      await createLibrary(call.deps.db, { ...actionContextOf(call), input, library_id }),
    );
  },
});

export const getLibrary = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/libraries/{lib}',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  errors: ['library_not_found'],
  handle: async ({ deps, project, params }) => {
    const { project_id } = project;
    const row = await requireLibrary(deps.db, { project_id, library: params['lib'] ?? '' });
    return row === undefined ? presentDefaultLibrary(project) : presentLibrary(row);
  },
});

export const patchLibrary = projectEndpoint({
  method: 'PATCH',
  path: '/v1/projects/{slug}/libraries/{lib}',
  auth: ['dash', 'key:files:write'],
  ok: 200,
  errors: [
    'not_supported',
    'default_library_immutable',
    'library_not_found',
    'media_library_disabled',
  ],
  body: patchLibraryBody,
  handle: async (call) => {
    const change = {
      ...actionContextOf(call),
      library: call.params['lib'] ?? '',
      input: call.body,
    };
    return presentChangedLibrary(await changeLibrary(call.deps.db, change));
  },
});

export const deleteProjectLibrary = projectEndpoint({
  method: 'DELETE',
  path: '/v1/projects/{slug}/libraries/{lib}',
  auth: ['dash', 'key:files:write'],
  ok: 204,
  errors: [
    'default_library_immutable',
    'library_not_found',
    'library_not_empty',
    'media_library_disabled',
    'filter_unavailable',
  ],
  handle: async (call) => {
    await deleteLibrary(call.deps.db, {
      ...actionContextOf(call),
      library: call.params['lib'] ?? '',
    });
  },
  afterwards: forgetSessions,
});

function actionContextOf({ deps, principal, project, request_id }: ProjectCall<unknown, unknown>) {
  const actor = auditActor({ principal, request_id });
  return { project_id: project.project_id, actor, settings: deps.settings };
}
