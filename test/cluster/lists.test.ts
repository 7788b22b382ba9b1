import { describe, expect, it } from 'vitest';
import { findProjectBySlug, updateProject } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { kubeOk } from '../support/kube-request.ts';
import { must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });

const none = {
  corsAllowedOrigins: [],
  resolutionPresets: [],
  allowedTransformChains: [],
  warmPresets: [],
  staff: { customDomains: [] },
};

function some(name: string) {
  return {
    corsAllowedOrigins: ['https://b.example', 'https://a.example'],
    resolutionPresets: [{ name: 'thumb', chain: 'resize/10x10' }],
    allowedTransformChains: ['resize/10x10'],
    warmPresets: ['thumb'],
    staff: { customDomains: [`b.${name}.example`, `a.${name}.example`] },
  };
}

async function rowOf(name: string) {
  const row = must(await findProjectBySlug(db, name));
  return {
    corsAllowedOrigins: row.cors_allowed_origins,
    resolutionPresets: Object.entries(row.resolution_presets).map(([preset, chain]) => {
      return { name: preset, chain };
    }),
    allowedTransformChains: row.allowed_transform_chains,
    warmPresets: row.warm_presets,
    staff: { customDomains: row.custom_domains },
  };
}

describe('the lists of a Project', () => {
  it('are stored in their order; an empty one clears the stored list, one that is left out keeps it', async () => {
    const name = newSlug();
    const inSync = () => cluster.untilReason('Project', name, 'InSync');
    await cluster.led(async () => {
      await cluster.apply('Project', name, some(name));
      await inSync();
      expect(await rowOf(name)).toEqual(some(name));
      await cluster.apply('Project', name, none);
      await inSync();
      expect(await rowOf(name)).toEqual(none);
      await cluster.apply('Project', name, some(name));
      await inSync();
      await cluster.apply('Project', name, { displayName: 'Shop' });
      await inSync();
      expect(await rowOf(name)).toEqual(some(name));
    });
  });
});

describe('a warm preset', () => {
  it('that the project lacks is reported, blocks nothing else, and is in sync once it exists', async () => {
    const name = newSlug();
    await cluster.apply('Project', name, { warmPresets: ['thumb', 'hero'], displayName: 'Shop' });
    await cluster.led(async () => {
      await cluster.untilReason('Project', name, 'WarmPresetNotFound');
      expect((await cluster.condition('Project', name))?.message).toContain(`'thumb', 'hero'`);
      expect(must(await findProjectBySlug(db, name))).toMatchObject({
        ...{ name: 'Shop', status: 'active', warm_presets: ['thumb', 'hero'] },
        active_signing_kid: expect.any(String),
      });
      const { project_id } = must(await findProjectBySlug(db, name));
      // The API creates the missing presets.
      const resolution_presets = { thumb: 'resize/10x10', hero: 'resize/90x90' };
      await updateProject(db, { project_id, changes: { resolution_presets } });
      await cluster.untilReason('Project', name, 'InSync');
    });
  });
});

describe('listing resources', () => {
  it('can filter by the project that they refer to', async () => {
    const [mine, other] = [newSlug(), newSlug()];
    const recipe = { transformChain: 'resize/10x10' };
    await cluster.apply('Recipe', mine, { ...recipe, projectRef: { name: mine } });
    await cluster.apply('Recipe', other, { ...recipe, projectRef: { name: other } });
    const all = cluster.path('Recipe', '').slice(0, -1);
    const path = `${all}?fieldSelector=${encodeURIComponent(`spec.projectRef.name=${mine}`)}`;
    const { items } = (await kubeOk(cluster.plane(), { path })) as {
      items: { metadata: { name: string } }[];
    };
    expect(items.map(({ metadata }) => metadata.name)).toEqual([mine]);
  });
});
