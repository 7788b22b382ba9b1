// A database moves to another cluster, or a new cluster takes it over after a loss: what the old cluster declared stays
// as it is until the new one declares it. Spec: Project.
import { describe, expect, it } from 'vitest';
import { openFence } from '../../operator/fence.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { kubeRelease } from '../support/kube-request.ts';
import { makeFile, must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });
const { apply, led, namespace, path, plane, read, remove, untilGone, untilReason } = cluster;

const project = async (name: string) => must(await findProjectBySlug(db, name));
const uidOf = async (name: string) => must((await read('Project', name)).metadata.uid);

/** Starts a term without running an operator. */
async function ledElsewhere(term: { epoch: number; lease_uid: string }): Promise<void> {
  await openFence(db, { ...term, lease: `${namespace()}/test`, holder: 'test' }).raise();
}

const old = { epoch: 1, lease_uid: 'old' };

/** Creates projects as an operator of another cluster would have left them. */
async function declareElsewhere(count: number): Promise<string[]> {
  const names = Array.from({ length: count }, newSlug);
  await led(async () => {
    for (const name of names) await apply('Project', name, {});
    for (const name of names) await untilReason('Project', name, 'InSync');
  }, old);
  for (const name of names) {
    await remove('Project', name);
    await kubeRelease(plane(), path('Project', name));
    await untilGone('Project', name);
    await db.query('update projects set owner_uid = $2 where project_slug = $1', [
      name,
      `old-${name}`,
    ]);
  }
  return names;
}

async function ownersElsewhere(): Promise<string[]> {
  const rows = await db.query<{ owner_uid: string }>(
    'select owner_uid from owners_elsewhere order by owner_uid',
  );
  return rows.map(({ owner_uid }) => owner_uid);
}

describe('a new cluster on the database of another', { shuffle: false }, () => {
  it('leaves what the old one declared unchanged until it is declared here', async () => {
    const [kept = '', left = ''] = await declareElsewhere(2);
    const before = await project(left);
    const here = { epoch: 2, lease_uid: 'new' };
    await led(async () => {
      await apply('Project', kept, {});
      await untilReason('Project', kept, 'InSync');
      expect((await project(kept)).owner_uid).toBe(await uidOf(kept));
      // A sweep has run since.
      await until(async () => expect(await ownersElsewhere()).toEqual([`old-${left}`]));
    }, here);
    expect(await project(left)).toEqual(before);
    await led(async () => {
      await apply('Project', left, {});
      await untilReason('Project', left, 'InSync');
      await until(async () => expect(await ownersElsewhere()).toEqual([]));
    }, here);
    expect((await project(left)).owner_uid).toBe(await uidOf(left));
  });

  it('keeps a default watermark that people chose, before its preset is declared here too', async () => {
    const name = newSlug();
    const preset = { projectRef: { name }, fileSlug: 'logo.png' };
    await led(
      async () => {
        await apply('Project', name, {});
        await untilReason('Project', name, 'InSync');
        await makeFile(db, await project(name), { file_slug: 'logo.png' });
        await apply('WatermarkPreset', name, preset);
        await untilReason('WatermarkPreset', name, 'InSync');
      },
      { epoch: 3, lease_uid: 'new' },
    );
    await db.query(
      `update projects set default_watermark_preset_id = watermark_preset_id
       from watermark_presets w where w.project_id = projects.project_id and project_slug = $1`,
      [name],
    );
    const { default_watermark_preset_id } = await project(name);
    expect(default_watermark_preset_id).not.toBeNull();
    for (const kind of ['WatermarkPreset', 'Project']) {
      await remove(kind, name);
      await kubeRelease(plane(), path(kind, name));
      await untilGone(kind, name);
    }
    await led(
      async () => {
        await apply('Project', name, {});
        await untilReason('Project', name, 'InSync');
        expect(await project(name)).toMatchObject({ default_watermark_preset_id });
        await apply('WatermarkPreset', name, preset);
        await untilReason('WatermarkPreset', name, 'InSync');
      },
      { epoch: 4, lease_uid: 'newest' },
    );
    expect(await project(name)).toMatchObject({ default_watermark_preset_id });
  });

  it('recognizes its own resources again if only its Lease was recreated', async () => {
    const name = newSlug();
    await led(
      async () => {
        await apply('Project', name, {});
        await untilReason('Project', name, 'InSync');
      },
      { epoch: 5, lease_uid: 'new' },
    );
    const anew = { epoch: 6, lease_uid: 'newer' };
    await ledElsewhere(anew);
    expect(await ownersElsewhere()).toContain(await uidOf(name));
    await led(() => until(async () => expect(await ownersElsewhere()).toEqual([])), anew);
    expect((await project(name)).owner_uid).toBe(await uidOf(name));
  });
});
