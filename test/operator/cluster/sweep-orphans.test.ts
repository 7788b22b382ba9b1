// Spec: Project.
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createDeletedResources } from '../../../operator/cluster/deleted-resources.ts';
import { sweepOrphans } from '../../../operator/cluster/sweep-orphans.ts';
import type { TenantState } from '../../../operator/cluster/tenant-controllers.ts';
import type { TenantKind, TenantObject } from '../../../operator/cluster/tenant-object.ts';
import type { CacheHealth } from '../../../operator/kube/cache-health.ts';
import { updateProject } from '../../../runtime/db/projects.ts';
import { insertSigningKey } from '../../../runtime/db/signing-keys.ts';
import { upsertWatermarkPreset } from '../../../runtime/db/watermark-presets.ts';
import { useDatabase } from '../../support/database.ts';
import { id, makeFile, makeProject } from '../../support/rows.ts';
import { createManualTimedClock } from '../kube/manual-timed-clock.ts';
import { silentLog as log } from '../kube/silent-log.ts';

const { db } = useDatabase();
const RESYNC_MS = 1000;
const RETRY_MS = 100;

/** The row of a resource that is in no cache. */
beforeAll(async () => {
  const { project_id } = await makeProject(db, { project_slug: 'shop-slug' });
  const changes = {
    ...{ owner_uid: 'uid', owner_namespace: 'team', owner_name: 'shop' },
    owner_deletion_policy: 'suspend' as const,
  };
  await db.transaction((tx) => updateProject(tx, { project_id, changes }));
});

/** A default watermark as it remains after both its project and its resource were deleted. */
async function makeKept(owner_uid: string): Promise<void> {
  const project = await makeProject(db);
  const { file_id } = await makeFile(db, project);
  const { project_id } = project;
  const default_watermark_preset_id = id('wm');
  const owner = { owner_uid, owner_namespace: 'team', owner_name: owner_uid };
  await db.transaction(async (tx) => {
    await upsertWatermarkPreset(tx, {
      ...{ watermark_preset_id: default_watermark_preset_id, project_id, name: 'Corner', file_id },
      ...{ x_offset: 0, y_offset: 0, opacity: 100, ...owner },
    });
    await updateProject(tx, { project_id, changes: { default_watermark_preset_id } });
  });
}

function sweep(more: Partial<TenantState['caches']>, raised = async () => undefined) {
  const clock = createManualTimedClock();
  const deleted = createDeletedResources();
  const caches = {
    health: () => [{ isSynced: true, isStale: false }],
    get: () => undefined,
    findNow: async () => undefined,
    ...more,
  };
  const state = { caches, clock, deleted, log, namespaces: [], queues: new Map() };
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
    orphans: async (kind: TenantKind = 'Project', name = 'shop') => {
      await expect.poll(() => clock.timers()).toBe(1);
      return deleted.of(kind, `team/${name}`).map(({ metadata }) => metadata.uid);
    },
    again: () => clock.advance(RESYNC_MS),
    soon: () => clock.advance(RETRY_MS),
  };
}

it('a row is an orphan only if all caches are synced and not stale', async () => {
  let health = { isSynced: false, isStale: false };
  const { orphans, again } = sweep({
    health: () => [{ isSynced: true, isStale: false }, health] as CacheHealth[],
  });
  expect(await orphans()).toEqual([]);
  health = { isSynced: true, isStale: true };
  again();
  expect(await orphans()).toEqual([]);
  health = { isSynced: true, isStale: false };
  again();
  expect(await orphans()).toEqual(['uid']);
});

it('the sweep runs again soon after a stale cache has caught up, and not before', async () => {
  const behind = { isSynced: true, isStale: true };
  let health = [behind, behind];
  let looks = 0;
  const { orphans, soon, again } = sweep({ health: () => health as CacheHealth[] }, async () => {
    looks += 1;
  });
  expect(await orphans()).toEqual([]);
  for (let turns = 0; turns < 5; turns += 1) soon();
  expect([await orphans(), looks]).toEqual([[], 1]);
  health = [behind, { ...behind, isStale: false }];
  soon();
  expect([await orphans(), looks]).toEqual([[], 2]);
  health = health.map((each) => ({ ...each, isStale: false }));
  soon();
  expect([await orphans(), looks]).toEqual([['uid'], 3]);
  for (let turns = 0; turns < 5; turns += 1) soon();
  expect([await orphans(), looks]).toEqual([['uid'], 3]);
  again();
  await expect.poll(() => looks).toBe(4);
});

it('a namespace that may not be watched does not keep rows of other namespaces from being orphans', async () => {
  const current = { isSynced: true, isStale: false };
  const health = (namespace?: string) =>
    namespace === 'team' ? [current] : [current, { ...current, isSynced: false }];
  const { orphans } = sweep({ health: health as TenantState['caches']['health'] });
  expect(await orphans()).toEqual(['uid']);
});

it('the sweep runs again soon after the database can be asked', async () => {
  let isMigrated = false;
  const { orphans, soon } = sweep({}, async () => {
    if (!isMigrated) throw new Error('column "lease_uid" does not exist');
  });
  expect(await orphans()).toEqual([]);
  isMigrated = true;
  soon();
  expect(await orphans()).toEqual(['uid']);
});

it('a row is no orphan while the API server has its resource, or a namesake that no cache knows', async () => {
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

it('a row owned by a resource of another cluster is no orphan until the resource was seen here', async () => {
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

it.each([
  ['another slug, once the namesake had its turn', { slug: 'other' }, ['uid']],
  ['the same slug, so that it can take over the project', { slug: 'shop-slug' }, []],
])(
  'the sweep decides whether a project is an orphan if its namesake declares %s',
  async (_what, spec, let_go) => {
    const live = { metadata: { name: 'shop', uid: 'another' }, spec } as unknown as TenantObject;
    const { orphans, again } = sweep({ get: () => live, findNow: async () => live });
    expect(await orphans()).toEqual([]);
    again();
    expect(await orphans()).toEqual(let_go);
  },
);

it('a row that a namesake may take over is no orphan in a sweep that runs early after a cache caught up', async () => {
  const current = { isSynced: true, isStale: false };
  let other = { isSynced: false, isStale: false };
  const health = (namespace?: string) => (namespace === 'team' ? [current] : [current, other]);
  const spec = { slug: 'other' };
  const live = { metadata: { name: 'shop', uid: 'another' }, spec } as unknown as TenantObject;
  const { orphans, soon, again } = sweep({
    ...{ health: health as TenantState['caches']['health'] },
    ...{ get: () => live, findNow: async () => live },
  });
  expect(await orphans()).toEqual([]);
  other = current;
  soon();
  expect(await orphans()).toEqual([]);
  again();
  expect(await orphans()).toEqual(['uid']);
});

it('a row that a namesake may take over becomes an orphan even while another namespace is unreadable', async () => {
  const current = { isSynced: true, isStale: false };
  const health = (namespace?: string) =>
    namespace === 'team' ? [current] : [current, { ...current, isSynced: false }];
  const spec = { slug: 'other' };
  const live = { metadata: { name: 'shop', uid: 'another' }, spec } as unknown as TenantObject;
  const { orphans, again } = sweep({
    ...{ health: health as TenantState['caches']['health'] },
    ...{ get: () => live, findNow: async () => live },
  });
  expect(await orphans()).toEqual([]);
  again();
  expect(await orphans()).toEqual(['uid']);
});

it('a signing key becomes an orphan if its namesake, perhaps in another project, did not take it over', async () => {
  const { project_id } = await makeProject(db);
  const owner = { owner_uid: 'uid-key', owner_namespace: 'team', owner_name: 'key' };
  const key = { kid: id('kid'), project_id, secret_sealed: Buffer.alloc(1), owner };
  await db.transaction((tx) => insertSigningKey(tx, key));
  const live = { metadata: { name: 'key', uid: 'another' } } as TenantObject;
  const { orphans, again } = sweep({ get: () => live, findNow: async () => live });
  expect(await orphans('SigningKey', 'key')).toEqual([]);
  again();
  expect(await orphans('SigningKey', 'key')).toEqual(['uid-key']);
});

it('default watermarks of released projects are no orphans while they are the default, however many', async () => {
  const uids = Array.from({ length: 12 }, (_, at) => `uid-kept-${at}`);
  for (const uid of uids) await makeKept(uid);
  const { orphans, again } = sweep({});
  expect(await orphans()).toEqual(['uid']);
  for (const uid of uids) expect(await orphans('WatermarkPreset', uid)).toEqual([]);
  await db.query(
    `update projects set default_watermark_preset_id = null where default_watermark_preset_id =
       (select watermark_preset_id from watermark_presets where owner_uid = $1)`,
    [uids[0]],
  );
  again();
  expect(await orphans('WatermarkPreset', uids[0])).toEqual([uids[0]]);
  expect(await orphans('WatermarkPreset', uids[1])).toEqual([]);
});
