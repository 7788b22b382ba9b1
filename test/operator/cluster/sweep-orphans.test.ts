// Spec: Project.
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createDeparted } from '../../../operator/cluster/departed.ts';
import { sweepOrphans } from '../../../operator/cluster/sweep-orphans.ts';
import type { TenantState } from '../../../operator/cluster/tenant-controllers.ts';
import type { TenantObject } from '../../../operator/cluster/tenant-object.ts';
import type { CacheHealth } from '../../../operator/kube/cache-health.ts';
import { updateProject } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { makeProject } from '../../support/rows.ts';
import { createManualTimedClock } from '../kube/manual-timed-clock.ts';
import { silentLog as log } from '../kube/silent-log.ts';

const { db } = useDatabase();
const RESYNC_MS = 1000;
const RETRY_MS = 100;

/** Of a resource that no cache here has. */
beforeAll(async () => {
  const { project_id } = await makeProject(db);
  const changes = {
    ...{ owner_uid: 'uid', owner_namespace: 'team', owner_name: 'shop' },
    owner_deletion_policy: 'suspend' as const,
  };
  await db.transaction((tx) => updateProject(tx, { project_id, changes }));
});

function sweep(more: Partial<TenantState['caches']>, raised = async () => undefined) {
  const clock = createManualTimedClock();
  const departed = createDeparted();
  const caches = {
    health: () => [{ isSynced: true, isStale: false }],
    get: () => undefined,
    findNow: async () => undefined,
    ...more,
  };
  const state = { caches, clock, departed, log, namespaces: [], queues: new Map() };
  const over = new AbortController();
  const term = {
    epoch: 1,
    lease_uid: 'lease',
    signal: over.signal,
    isCurrent: () => true,
    raised,
    db,
  };
  const often = { resync_ms: RESYNC_MS, retry_ms: RETRY_MS };
  const swept = sweepOrphans({ ...state, ...often } as unknown as TenantState, term);
  onTestFinished(async () => {
    over.abort();
    await swept;
  });
  return {
    orphans: async () => {
      await expect.poll(() => clock.timers()).toBe(1);
      return departed.of('Project', 'team/shop').map(({ metadata }) => metadata.uid);
    },
    again: () => clock.advance(RESYNC_MS),
    soon: () => clock.advance(RETRY_MS),
  };
}

it('a row is an orphan by the word of caches that are synced and not behind, and of no others', async () => {
  let health = { isSynced: false, isStale: false };
  const { orphans, soon } = sweep({
    health: () => [{ isSynced: true, isStale: false }, health] as CacheHealth[],
  });
  expect(await orphans()).toEqual([]);
  health = { isSynced: true, isStale: true };
  soon();
  expect(await orphans()).toEqual([]);
  health = { isSynced: true, isStale: false };
  soon();
  expect(await orphans()).toEqual(['uid']);
});

it('a row is compared as soon as the database can be asked', async () => {
  let isMigrated = false;
  const { orphans, soon } = sweep({}, async () => {
    if (!isMigrated) throw new Error('column "lease_uid" does not exist');
  });
  expect(await orphans()).toEqual([]);
  isMigrated = true;
  soon();
  expect(await orphans()).toEqual(['uid']);
});

it('a row is no orphan while the API server has its resource, or another one that no cache has heard of', async () => {
  const has = (uid: string) => ({ metadata: { uid } }) as TenantObject;
  let now: TenantObject | undefined = has('uid');
  const { orphans, again } = sweep({ findNow: async () => now });
  expect(await orphans()).toEqual([]);
  now = has('another');
  again();
  expect(await orphans()).toEqual([]);
  now = undefined;
  again();
  expect(await orphans()).toEqual(['uid']);
});

it('a row of another cluster’s resource is no orphan before the resource was seen here', async () => {
  let live: TenantObject | undefined;
  await db.query(`insert into owners_elsewhere (owner_uid) values ('uid')`);
  const { orphans, again } = sweep({ get: () => live });
  expect(await orphans()).toEqual([]);
  live = { metadata: { uid: 'uid' } } as TenantObject;
  again();
  expect(await orphans()).toEqual([]);
  live = undefined;
  again();
  expect(await orphans()).toEqual(['uid']);
});
