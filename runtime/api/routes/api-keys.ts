/** Spec: Endpoints, API keys. */
import { ServiceError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { createApiKeyBody } from '../../core/resources/api-key.ts';
import { newApiKey } from '../../core/signing/api-key.ts';
import { insertApiKey } from '../../db/api-keys.ts';
import { projectEndpoint } from '../endpoint.ts';
import { presentApiKey } from '../present/api-key.ts';

export const createApiKey = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/keys',
  auth: ['dash'],
  ok: 201,
  effect: 'once',
  errors: ['api_key_quota_exceeded'],
  body: createApiKeyBody,
  handle: async ({ deps, project, body }) => {
    const { plaintext_secret, ...stored } = newApiKey();
    const key = await deps.db.transaction((tx) =>
      insertApiKey(tx, {
        ...stored,
        key_id: newId('key', deps.clock.now().getTime()),
        project_id: project.project_id,
        name: body.name,
        scopes: body.scopes ?? null,
      }),
    );
    if (key === undefined) throw new ServiceError('api_key_quota_exceeded');
    return { ...presentApiKey(key), plaintext_secret };
  },
});
