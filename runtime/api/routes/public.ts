/** Spec: Endpoints, Public. */
import { requestAccess } from '../../actions/request-access.ts';
import { newId } from '../../core/ids.ts';
import { STATUS_CACHE_SECONDS } from '../../core/limits.ts';
import { accessRequestBody } from '../../core/resources/access-request.ts';
import type { StatusRecord } from '../../core/resources/incident.ts';
import { findDatabaseTime } from '../../db/database-time.ts';
import { endpoint } from '../endpoint.ts';

export const postAccessRequest = endpoint({
  method: 'POST',
  path: '/v1/public/access-requests',
  auth: ['none'],
  ok: 202,
  errors: ['rate_limited'],
  body: accessRequestBody,
  // Anybody may call it: what is refused for its body counts too.
  admit: ({ deps, client }) => deps.rates.accessRequests.take(client),
  handle: async ({ deps, body }) => {
    await requestAccess(deps.db, {
      access_request_id: newId('acr', deps.clock.now().getTime()),
      email: body.email,
      name: body.name ?? null,
      company: body.company ?? null,
      url: body.url ?? null,
      message: body.message ?? null,
      use_case: body.use_case ?? null,
      plan_interest: body.plan_interest ?? null,
      locale: body.locale ?? null,
    });
    return { accepted: true };
  },
});

export const getPublicStatus = endpoint({
  method: 'GET',
  path: '/v1/public/status',
  auth: ['none'],
  ok: 200,
  cache_control: `public, max-age=${STATUS_CACHE_SECONDS}`,
  handle: async ({ deps }): Promise<StatusRecord> =>
    deps.status(deps.db, await findDatabaseTime(deps.db)),
});
