import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../runtime/db/client.ts';
import { findProjectBySlug, updateProject } from '../../runtime/db/projects.ts';
import { listWatermarkPresets } from '../../runtime/db/watermark-presets.ts';
import { useDatabase } from '../support/database.ts';
import { makeFile, makeProject, must } from '../support/rows.ts';
import { type FaultProxy, startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
let apiServer: FaultProxy;
let postgres: FaultProxy;
let faulty: Database;
const cluster = useTenantCluster({
  db,
  through: async (plane) => {
    const { hostname: host, port, protocol } = new URL(plane.url);
    apiServer = await startFaultProxy({ host, port: Number(port) });
    return { ...plane, url: `${protocol}//${host}:${apiServer.port}` };
  },
});
const { apply, condition, led, read, untilReason } = cluster;

beforeAll(async () => {
  const direct = new URL(url());
  postgres = await startFaultProxy({ host: direct.hostname, port: Number(direct.port) });
  direct.port = String(postgres.port);
  faulty = createDatabase({ url: direct.href, connectTimeoutMs: 1500, queryTimeoutMs: 1500 });
});
afterAll(async () => {
  await faulty.close();
  await postgres.close();
  await apiServer.close();
});

const project = (slug: string) => findProjectBySlug(db, slug);

async function events(name: string) {
  const { uid } = (await read('Project', name)).metadata;
  return (await cluster.events()).filter(({ regarding }) => regarding.uid === uid);
}

describe('while the database is away', () => {
  it.each(['refuse', 'stall'] as const)(
    '(%s) resources report it without looping, and everything takes effect once it is back',
    async (kind) => {
      const [old, fresh, refused] = [newSlug(), newSlug(), newSlug()];
      await apply('Project', old, { displayName: 'Shop' });
      await led(
        async () => {
          await untilReason('Project', old, 'InSync');
          await apply('Project', refused, { slug: old });
          await untilReason('Project', refused, 'SlugConflict');
          const { status } = await read('Project', old);
          postgres.set({ kind });
          postgres.cut();
          await apply('Project', old, { displayName: 'Store' });
          await apply('Project', fresh, {});
          await untilReason('Project', old, 'DatabaseUnavailable');
          await untilReason('Project', fresh, 'DatabaseUnavailable');
          await untilReason('Project', refused, 'DatabaseUnavailable');
          // An outage does not change what is known about validity: neither becomes accepted.
          expect(await condition('Project', refused, 'Accepted')).toMatchObject({
            ...{ status: 'False', reason: 'SlugConflict' },
          });
          expect(await condition('Project', fresh, 'Accepted')).toBeUndefined();
          const reported = await condition('Project', old);
          expect(reported?.message).toMatch(/the database does not answer/);
          expect(await condition('Project', old, 'Reconciling')).toMatchObject({ status: 'True' });
          // Earlier results are kept.
          expect((await read('Project', old)).status).toMatchObject({
            projectID: status['projectID'],
            activeKid: status['activeKid'],
          });
          const before = [await read('Project', old), await read('Project', fresh)];
          const passes = await cluster.countPasses();
          await until(async () => expect(await cluster.countPasses()).toBeGreaterThan(passes + 3));
          expect([await read('Project', old), await read('Project', fresh)]).toEqual(before);
          postgres.set({ kind: 'none' });
          postgres.cut();
          await untilReason('Project', old, 'InSync');
          await untilReason('Project', fresh, 'InSync');
        },
        { through: faulty },
      );
      expect((await project(old))?.name).toBe('Store');
    },
    300_000,
  );

  it('a paused resource stays paused, and a plan-only resource keeps its plan', async () => {
    const [paused, planned] = [newSlug(), newSlug()];
    const annotated = (name: string) => ({ annotations: { [`tintype.dev/${name}`]: 'true' } });
    await apply('Project', paused, { displayName: 'Shop' });
    await apply('Project', planned, { displayName: 'Shop' });
    await led(
      async () => {
        await untilReason('Project', paused, 'InSync');
        await untilReason('Project', planned, 'InSync');
        await apply('Project', paused, { displayName: 'Store' }, annotated('paused'));
        await apply('Project', planned, { displayName: 'Store' }, annotated('plan-only'));
        await untilReason('Project', planned, 'PlanOnly');
        const plan = await condition('Project', planned, 'Planned');
        expect(plan?.message).toContain('name: "Shop" → "Store"');
        await until(async () =>
          expect(await condition('Project', paused, 'Paused')).toMatchObject({ status: 'True' }),
        );
        const before = await read('Project', paused);
        postgres.set({ kind: 'refuse' });
        postgres.cut();
        await untilReason('Project', planned, 'DatabaseUnavailable');
        expect(await condition('Project', planned, 'Planned')).toEqual(plan);
        const passes = await cluster.countPasses();
        await until(async () => expect(await cluster.countPasses()).toBeGreaterThan(passes + 10));
        expect(await read('Project', paused)).toEqual(before);
        postgres.set({ kind: 'none' });
        await untilReason('Project', planned, 'PlanOnly');
      },
      { through: faulty },
    );
  }, 30_000);
});

describe('while the API server is away', () => {
  it('nothing fails for good, and what was declared meanwhile takes effect once it is back', async () => {
    const name = newSlug();
    await apply('Project', name, { displayName: 'Shop' });
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      apiServer.set({ kind: 'refuse' });
      apiServer.cut();
      await apply('Project', name, { displayName: 'Store' });
      const { project_id } = must(await project(name));
      await updateProject(db, { project_id, changes: { name: 'Drifted' } });
      // It still repairs rows, to the last spec that it received.
      await until(async () => expect((await project(name))?.name).toBe('Shop'));
      apiServer.set({ kind: 'none' });
      await untilReason('Project', name, 'InSync');
      await until(async () => expect((await project(name))?.name).toBe('Store'));
    });
  }, 300_000);
});

describe('the Events of a resource', () => {
  it('are none if it became ready on its first pass', async () => {
    const [name, refused] = [newSlug(), newSlug()];
    await led(async () => {
      await apply('Project', name, { displayName: 'Shop' });
      await untilReason('Project', name, 'InSync');
      await apply('Project', refused, { slug: 'www' });
      await until(async () => expect(await events(refused)).toHaveLength(1));
    });
    expect(await events(name)).toEqual([]);
  });

  it('are only one for a refusal, however many passes follow', async () => {
    const name = newSlug();
    await apply('Project', name, { slug: 'www' });
    await led(async () => {
      await untilReason('Project', name, 'SlugReserved');
      const passes = await cluster.countPasses();
      await until(async () => expect(await cluster.countPasses()).toBeGreaterThan(passes + 10));
    });
    await until(async () => expect(await events(name)).toHaveLength(1));
    const [reported] = await events(name);
    expect(reported).toMatchObject({ type: 'Warning', reason: 'SlugReserved' });
    expect(reported?.note).toMatch(/'www' is reserved/);
    expect(reported?.series).toBeUndefined();
  });

  it('report healed drift, as a series if it repeats', async () => {
    const name = newSlug();
    await apply('Project', name, { displayName: 'Shop' });
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      const { project_id } = must(await project(name));
      for (let times = 0; times < 3; times += 1) {
        await updateProject(db, { project_id, changes: { name: 'Other' } });
        await until(async () => expect((await project(name))?.name).toBe('Shop'));
      }
      await until(async () => {
        const healed = (await events(name)).filter(({ reason }) => reason === 'DriftHealed');
        expect(healed).toHaveLength(1);
        expect(healed[0]).toMatchObject({ type: 'Normal', series: { count: 3 } });
        expect(healed[0]?.note).toContain('name: "Other" → "Shop"');
      });
    });
    const printed = await cluster.metrics().print();
    expect(printed).toMatch(/tintype_resource_drift_seconds_count\{kind="Project"\} [1-9]/);
    expect(printed).toMatch(/tintype_resource_time_to_ready_seconds_count\{kind="Project"\} [1-9]/);
  });

  it('report no drift of a default watermark that is dropped with its preset', async () => {
    const name = newSlug();
    await apply('Project', name, { displayName: 'Shop' });
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      const { project_id } = must(await project(name));
      await makeFile(db, { project_id }, { file_slug: 'logo.png' });
      await apply('WatermarkPreset', name, { projectRef: { name }, fileSlug: 'logo.png' });
      await untilReason('WatermarkPreset', name, 'InSync');
      const [preset] = await listWatermarkPresets(db, project_id);
      const default_watermark_preset_id = must(preset).watermark_preset_id;
      await updateProject(db, { project_id, changes: { default_watermark_preset_id } });
      await cluster.remove('WatermarkPreset', name);
      await cluster.untilGone('WatermarkPreset', name);
      expect(must(await project(name)).default_watermark_preset_id).toBeNull();
      // Events are recorded in order: one about the watermark would come before this one.
      await updateProject(db, { project_id, changes: { name: 'Other' } });
      const reported = async () =>
        (await events(name)).filter(({ reason }) => reason === 'DriftHealed');
      await until(async () => expect(await reported()).toHaveLength(1));
      expect((await reported())[0]?.note).not.toContain('watermark');
    });
  });

  it('show the values that a project of the API had before it was adopted', async () => {
    const [name, first] = [newSlug(), newSlug()];
    await apply('Project', first, {});
    // The first project of a namespace creates the organization.
    await led(() => untilReason('Project', first, 'InSync'));
    const { organization_id } = await organizationOf(cluster.namespace());
    await makeProject(db, { organization_id, project_slug: name, name: 'By hand' });
    await apply('Project', name, { displayName: 'Shop' });
    await led(async () => {
      await untilReason('Project', name, 'NotOwned');
      await apply('Project', name, { displayName: 'Shop', adoptionPolicy: 'IfUnowned' });
      await untilReason('Project', name, 'InSync');
      await until(async () => {
        const adopted = (await events(name)).find(({ reason }) => reason === 'Adopted');
        expect(adopted?.note).toContain('name: "By hand" → "Shop"');
      });
    });
  });
});

async function organizationOf(namespace: string) {
  const [found] = await db.query<{ organization_id: string }>(
    'select organization_id from organizations where namespace = $1',
    [namespace],
  );
  return must(found);
}
