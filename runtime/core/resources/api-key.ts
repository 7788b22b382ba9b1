/** An API key of a project. Spec: API key; API keys. */
import { z } from 'zod';
import { apiKeyScopes } from '../scopes.ts';
import { expected, nameText, oneOf, requestBody, times, timestamp } from './wire.ts';

/** A key without its secret; scopes are listed in full even if none were chosen. */
export const apiKeyRecord = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(apiKeyScopes)),
  prefix: z.string(),
  last_four: z.string(),
  status: z.enum(['active', 'revoked']),
  last_used_at: timestamp.nullable(),
  ...times,
});

/** A key on the wire. */
export type ApiKeyRecord = z.infer<typeof apiKeyRecord>;

/** Response of create and rotate: the only time that the secret is shown. */
export const createdApiKeyRecord = apiKeyRecord.extend({ plaintext_secret: z.string() });

/** A key with its secret. */
export type CreatedApiKeyRecord = z.infer<typeof createdApiKeyRecord>;

/** Create; without scopes the key has all of them, and an empty list is refused. */
export const createApiKeyBody = requestBody({
  name: nameText(),
  scopes: z
    .array(oneOf(apiKeyScopes), { error: expected(`a list of scopes: ${apiKeyScopes.join(', ')}`) })
    .min(1, { error: 'expected at least one scope; leave scopes out for full access' })
    .max(apiKeyScopes.length, { error: `expected at most ${apiKeyScopes.length} scopes` })
    .transform((scopes) => apiKeyScopes.filter((scope) => scopes.includes(scope)))
    .optional(),
});

/** Response of /v1/key: the calling key and where it belongs. */
export const keyIntrospectionRecord = apiKeyRecord
  .omit({ created_at: true, updated_at: true })
  .extend({ project_slug: z.string(), project_id: z.string(), organization_id: z.string() });
