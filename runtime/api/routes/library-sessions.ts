/** Spec: Endpoints, Library sessions and the picker: the calls of the tenant's server. */
import { mintLibrarySession } from '../../actions/mint-library-session.ts';
import { revokeLibrarySessions } from '../../actions/revoke-library-sessions.ts';
import { ServiceError } from '../../core/errors.ts';
import {
  createLibrarySessionBody,
  revokeLibrarySessionsBody,
} from '../../core/resources/library-session.ts';
import { auditActor } from '../audit-actor.ts';
import { forgetSessions } from '../auth/library-session.ts';
import { requireKeyPrincipal } from '../auth/principal.ts';
import { projectEndpoint } from '../endpoint.ts';

export const postLibrarySession = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/library-sessions',
  auth: ['key:library:sessions'],
  ok: 201,
  effect: 'once',
  errors: [
    'invalid_folder',
    'invalid_subject',
    'invalid_permissions',
    'refresh_mismatch',
    'scope_missing',
    'origin_not_allowed',
    'project_suspended',
    'library_not_found',
    'library_sessions_disabled',
    'subject_key_unavailable',
    'sessions_recently_revoked',
  ],
  body: createLibrarySessionBody,
  handle: async ({ deps, principal, project, body: input, request_id }) => {
    if (deps.settings.librarySessions === 'disabled') {
      throw new ServiceError('library_sessions_disabled');
    }
    const { key } = requireKeyPrincipal(principal);
    const actor = auditActor({ principal, request_id });
    return mintLibrarySession(deps, { key, project, input, actor });
  },
});

/** Also works while sessions are off, so that they stay revoked when these are turned on again. */
export const revokeProjectLibrarySessions = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/library-sessions/revoke',
  auth: ['dash', 'key:library:sessions'],
  ok: 200,
  effect: 'once',
  errors: ['invalid_subject', 'subject_key_unavailable'],
  body: revokeLibrarySessionsBody,
  handle: async ({ deps, principal, project: { project_id }, body, request_id }) => {
    const actor = auditActor({ principal, request_id });
    const subject = body?.subject;
    return revokeLibrarySessions(deps, { project_id, subject, actor });
  },
  afterwards: forgetSessions,
});
