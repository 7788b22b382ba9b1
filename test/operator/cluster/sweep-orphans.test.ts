// Spec: Project.
import { expect, it } from 'vitest';
import { createDeparted } from '../../../operator/cluster/departed.ts';
import { sweepOrphans } from '../../../operator/cluster/sweep-orphans.ts';
import type { TenantState } from '../../../operator/cluster/tenant-controllers.ts';
import { updateProject } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { makeProject } from '../../support/rows.ts';
import { createManualTimedClock } from '../kube/manual-timed-clock.ts';
import { silentLog as log } from '../kube/silent-log.ts';

const { db } = useDatabase();
const RESYNC_MS = 1000;

it('a row is an orphan by the word of caches that are synced and not behind, and of no others', async () => {
  const { project_id } = await makeProject(db);
  const changes = {
    ...{ owner_uid: 'uid', owner_namespace: 'team', owner_name: 'shop' },
    owner_deletion_policy: 'suspend' as const,
  };
  await db.transaction((tx) => updateProject(tx, { project_id, changes }));
  let health = { isSynced: false, isStale: false };
  const caches = {
    health: () => [{ isSynced: true, isStale: false }, health],
    get: () => undefined,
  };
  const clock = createManualTimedClock();
  const departed = createDeparted();
  const state = { caches, clock, departed, log, namespaces: [], queues: new Map() };
  const over = new AbortController();
  const term = { epoch: 1, signal: over.signal, isCurrent: () => true, db };
  const swept = sweepOrphans({ ...state, resync_ms: RESYNC_MS } as unknown as TenantState, term);
  const orphans = async () => {
    await expect.poll(() => clock.timers()).toBe(1);
    return departed.of('Project', 'team/shop').map(({ metadata }) => metadata.uid);
  };
  expect(await orphans()).toEqual([]);
  health = { isSynced: true, isStale: true };
  clock.advance(RESYNC_MS);
  expect(await orphans()).toEqual([]);
  health = { isSynced: true, isStale: false };
  clock.advance(RESYNC_MS);
  expect(await orphans()).toEqual(['uid']);
  over.abort();
  await swept;
});
