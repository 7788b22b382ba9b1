/** Spec: Endpoints, Signing keys and signed URLs. */
import { rotateSigningKey } from '../../actions/rotate-signing-key.ts';
import { ServiceError } from '../../core/errors.ts';
import { insertAuditEntry } from '../../db/audit-log.ts';
import { lockProject } from '../../db/projects.ts';
import { listSigningKeys } from '../../db/signing-keys.ts';
import { auditActor } from '../audit-actor.ts';
import { projectEndpoint } from '../endpoint.ts';
import { presentSigningKey } from '../present/signing-key.ts';

export const listProjectSigningKeys = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/signing-keys',
  auth: ['dash'],
  ok: 200,
  handle: async ({ deps, project }) => {
    const rows = await listSigningKeys(deps.db, project.project_id);
    return { items: rows.map(presentSigningKey), next_cursor: null };
  },
});

export const rotateProjectSigningKey = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/signing-keys/rotate',
  auth: ['dash'],
  ok: 200,
  effect: 'once',
  errors: ['rate_limited'],
  handle: async ({ deps, principal, project: { project_id }, request_id }) => {
    const key = await deps.db.transaction(async (tx) => {
      const before = await lockProject(tx, project_id);
      const made = await rotateSigningKey(tx, deps, { project_id }).catch((error: unknown) => {
        if (isRateLimited(error)) deps.metrics.rateRefused('signing-key');
        throw error;
      });
      await insertAuditEntry(tx, {
        ...auditActor({ principal, request_id }),
        project_id,
        action: 'signing_key.rotate',
        target: made.kid,
        before: { active_signing_kid: before?.active_signing_kid ?? null },
        after: { active_signing_kid: made.kid },
      });
      return made;
    });
    return presentSigningKey(key);
  },
});

function isRateLimited(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'rate_limited';
}
