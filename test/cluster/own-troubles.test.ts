// A problem of one resource is reported on that resource alone. Spec: Project (status).
import { randomBytes } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { NO_SETTINGS, SettingsUnknown } from '../../operator/api-settings.ts';
import { PLAN_ONLY } from '../../operator/cluster/directives.ts';
import { createOrganizations } from '../../operator/cluster/organizations.ts';
import { defaultPlans, type Plans } from '../../runtime/core/plans.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { StorageUnavailable } from '../../runtime/platform/storage/bucket.ts';
import { useDatabase } from '../support/database.ts';
import { declaredImageDeps } from '../support/declared-image-deps.ts';
import { makeFolderBuckets } from '../support/folder-buckets.ts';
import { kubeOk } from '../support/kube-request.ts';
import { must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const folder = makeFolderBuckets();
afterAll(() => folder.remove());

const write = async () => {
  throw new StorageUnavailable('The bucket tintype-ingest refuses access: check its credentials.');
};
const buckets = { ...folder.buckets, ingest: { ...folder.buckets.ingest, write } };
const deps = declaredImageDeps(buckets);
let { findSettings } = deps;
const images = {
  ...{ ...deps, findSettings: () => findSettings() },
  download: async () => ({ fault: 'nobody asks' }),
};
let findPlans = async (): Promise<Plans> => defaultPlans;
const findOrganization = createOrganizations({ clock: systemClock, findPlans: () => findPlans() });
const cluster = useTenantCluster({ db, context: { images, findOrganization } });
const { apply, condition, led, untilReason } = cluster;

/** The reasons of the Ready condition of a project while `work` runs. */
async function reasonsWhile(name: string, work: () => Promise<unknown>): Promise<Set<unknown>> {
  const seen = new Set<unknown>();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      seen.add((await condition('Project', name))?.reason);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  await work();
  isOver = true;
  await watching;
  return seen;
}

async function storeImage(name: string): Promise<void> {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(64)]);
  await kubeOk(cluster.plane(), {
    ...{ method: 'POST', path: `/api/v1/namespaces/${cluster.namespace()}/configmaps` },
    body: { metadata: { name }, binaryData: { 'logo.png': png.toString('base64') } },
  });
}

it('a storage that accepts no images affects only the preset that declares one', async () => {
  const [name, other] = [newSlug(), newSlug()];
  await storeImage(name);
  await led(async () => {
    for (const each of [name, other]) await apply('Project', each, {});
    for (const each of [name, other]) await untilReason('Project', each, 'InSync');
    const seen = await reasonsWhile(other, async () => {
      const image = { configMapRef: { name, key: 'logo.png' } };
      await apply('WatermarkPreset', name, { projectRef: { name }, image });
      await untilReason('WatermarkPreset', name, 'ImagesUnavailable');
      const passes = await cluster.countPasses();
      await until(async () => expect(await cluster.countPasses()).toBeGreaterThan(passes + 6));
    });
    expect([...seen]).toEqual(['InSync']);
    const said = await condition('WatermarkPreset', name);
    expect(said?.message).toBe(
      'the storage does not accept the image: The bucket tintype-ingest refuses access: check its credentials.',
    );
  });
});

it('plans that cannot be read affect only a namespace that has no organization yet', async () => {
  const [known, name] = [newSlug(), newSlug()];
  await led(async () => {
    await apply('Project', known, {});
    await untilReason('Project', known, 'InSync');
    findPlans = async () => {
      throw new SettingsUnknown('the ConfigMap images/plans, which has the plans, does not exist');
    };
    const seen = await reasonsWhile(known, async () => {
      await apply('Project', name, {}, { namespace: cluster.other() });
      await untilReason('Project', name, 'SettingsUnknown', cluster.other());
    });
    expect([...seen]).toEqual(['InSync']);
    const said = await condition('Project', name, 'Ready', cluster.other());
    expect(said?.message).not.toContain('images/plans');
    // No pass has examined it yet.
    expect(await condition('Project', name, 'Accepted', cluster.other())).toBeUndefined();
    expect(await findProjectBySlug(db, name)).toBeUndefined();
    findPlans = async () => defaultPlans;
    await untilReason('Project', name, 'InSync', cluster.other());
  });
});

it('a preset with an image waits for settings that cannot be read, and is valid all the same', async () => {
  const name = newSlug();
  await storeImage(name);
  findSettings = async () => {
    throw new SettingsUnknown('the ConfigMap images/plans, which has the plans, does not exist');
  };
  const preset = { projectRef: { name }, image: { configMapRef: { name, key: 'logo.png' } } };
  await apply('Project', name, {});
  await led(async () => {
    await untilReason('Project', name, 'InSync');
    await apply('WatermarkPreset', name, preset, { annotations: { [PLAN_ONLY]: 'true' } });
    await untilReason('WatermarkPreset', name, 'SettingsUnknown');
    expect(await condition('WatermarkPreset', name, 'Accepted')).toMatchObject({ status: 'True' });
    expect(await condition('WatermarkPreset', name, 'Planned')).toMatchObject({
      reason: 'Blocked',
      message: `what would change is not known yet: ${NO_SETTINGS}`,
    });
    ({ findSettings } = deps);
    await untilReason('WatermarkPreset', name, 'PlanOnly');
  });
});

it('a row that somebody keeps locked affects only its own resource', async () => {
  const [name, other] = [newSlug(), newSlug()];
  await led(async () => {
    for (const each of [name, other]) await apply('Project', each, {});
    for (const each of [name, other]) await untilReason('Project', each, 'InSync');
    const { project_id } = must(await findProjectBySlug(db, name));
    const seen = await db.transaction(async (tx) => {
      await tx.query('select from projects where project_id = $1 for update', [project_id]);
      return reasonsWhile(other, async () => {
        await apply('Project', name, { displayName: 'Store' });
        await untilReason('Project', name, 'DatabaseUnavailable');
        const passes = await cluster.countPasses();
        await until(async () => expect(await cluster.countPasses()).toBeGreaterThan(passes + 6));
      });
    });
    expect([...seen]).toEqual(['InSync']);
    await untilReason('Project', name, 'InSync');
    expect(await findProjectBySlug(db, name)).toMatchObject({ name: 'Store' });
  });
});
