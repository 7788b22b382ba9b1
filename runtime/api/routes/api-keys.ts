/** Spec: Endpoints, API keys. */
import {
  createApiKey as create,
  type MadeApiKey,
  revokeApiKey as revoke,
  rotateApiKey as rotate,
} from '../../actions/change-api-keys.ts';
import { type CreatedApiKeyRecord, createApiKeyBody } from '../../core/resources/api-key.ts';
import { listApiKeys } from '../../db/api-keys.ts';
import { auditActor } from '../audit-actor.ts';
import { forgetSessions } from '../auth/library-session.ts';
import { type ProjectCall, projectEndpoint } from '../endpoint.ts';
import { presentApiKey } from '../present/api-key.ts';

export const listProjectApiKeys = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/keys',
  auth: ['dash'],
  ok: 200,
  handle: async ({ deps, project }) => {
    const rows = await listApiKeys(deps.db, project.project_id);
    return { items: rows.map(presentApiKey), next_cursor: null };
  },
});

export const createApiKey = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/keys',
  auth: ['dash'],
  ok: 201,
  effect: 'once',
  errors: ['api_key_quota_exceeded'],
  body: createApiKeyBody,
  handle: async ({ deps, principal, project, body, request_id }) => {
    const { project_id } = project;
    const actor = auditActor({ principal, request_id });
    const scopes = body.scopes ?? null;
    return presentMade(await create(deps, { project_id, actor, name: body.name, scopes }));
  },
});

export const revokeProjectApiKey = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/keys/{keyId}/revoke',
  auth: ['dash'],
  ok: 200,
  effect: 'once',
  handle: async (call) => presentApiKey(await revoke(call.deps, keyOf(call))),
  afterwards: forgetSessions,
});

export const rotateProjectApiKey = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/keys/{keyId}/rotate',
  auth: ['dash'],
  ok: 200,
  effect: 'once',
  errors: ['api_key_revoked'],
  handle: async (call) => presentMade(await rotate(call.deps, keyOf(call))),
  afterwards: forgetSessions,
});

function keyOf({ principal, params, project, request_id }: ProjectCall<undefined, undefined>) {
  const actor = auditActor({ principal, request_id });
  return { project_id: project.project_id, key_id: params['keyId'] ?? '', actor };
}

function presentMade({ row, plaintext_secret }: MadeApiKey): CreatedApiKeyRecord {
  return { ...presentApiKey(row), plaintext_secret };
}
