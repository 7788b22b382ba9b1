// Spec: Project (status).
import { expect, it, vi } from 'vitest';
import { planRoutes } from '../../../operator/routes/plan-routes.ts';
import type { RouteContext } from '../../../operator/routes/project-route.ts';
import { useDatabase } from '../../support/database.ts';

const { db } = useDatabase();

it('a plan gives up if the routes cannot be listed in time, so that it does not block others', async () => {
  const edges = { synced: new Promise(() => undefined) } as RouteContext['edges'];
  const metadata = { namespace: 'shop', name: 'shop', uid: 'u1', resourceVersion: '1' };
  // The wait times out immediately.
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  await expect(planRoutes({ metadata, spec: {} }, { db, edges })).rejects.toThrow(
    'the existing routes cannot be listed yet',
  );
  timeout.mockRestore();
});
