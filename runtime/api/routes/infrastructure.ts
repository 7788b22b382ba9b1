/** Spec: Endpoints, Infrastructure. */
import type { ApiDeps } from '../deps.ts';
import { endpoint, withStatus } from '../endpoint.ts';

/** Never asks a dependency: a process that is alive is not restarted because the database is down. */
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
    const checks = await runChecks(deps);
    const ready = Object.values(checks).every((isReady) => isReady);
    return ready ? { ready, checks } : withStatus(503, { ready, checks });
  },
});

async function runChecks({ db, buckets, log }: ApiDeps): Promise<Record<string, boolean>> {
  const probes = {
    database: () => db.query('select 1'),
    ingest: () => buckets.ingest.check(),
    content: () => buckets.content.check(),
  };
  const results = Object.entries(probes).map(async ([name, probe]) => {
    try {
      await probe();
      return [name, true];
    } catch (error) {
      log.warn('not ready', { component: name, error });
      return [name, false];
    }
  });
  return Object.fromEntries(await Promise.all(results));
}
