/** Spec: Endpoints, Infrastructure. */
import { probesOf } from '../../actions/open-deps.ts';
import { findReadiness } from '../../platform/readiness.ts';
import { endpoint, withStatus } from '../endpoint.ts';

/** Never checks a dependency: a live process must not be restarted because the database is down. */
export const healthz = endpoint({
  method: 'GET',
  path: '/healthz',
  auth: ['none'],
  ok: 200,
  handle: async () => ({ status: 'ok' }),
});

export const readyz = endpoint({
  method: 'GET',
  path: '/readyz',
  auth: ['none'],
  ok: 200,
  handle: async ({ deps }) => {
    const readiness = await findReadiness(probesOf(deps), deps.log);
    return readiness.ready ? readiness : withStatus(503, readiness);
  },
});
