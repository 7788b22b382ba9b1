import { describe, expect, it } from 'vitest';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { upsertRecipe } from '../../runtime/db/recipes.ts';
import { useDatabase } from '../support/database.ts';
import { kubeOk, kubeRelease, kubeRequest } from '../support/kube-request.ts';
import { id, makeFile, makeOrganization, makeProject, must } from '../support/rows.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const others = useControlPlane();
const cluster = useTenantCluster({ db });
const { apply, condition, led, path, read, remove, untilGone, untilReason } = cluster;
const { plane } = cluster;

const project = async (slug: string) => must(await findProjectBySlug(db, slug));

const recipes = async (slug: string) => {
  const { project_id } = await project(slug);
  return db.query<{ name: string; recipe_id: string }>(
    'select name, recipe_id from recipes where project_id = $1 order by name',
    [project_id],
  );
};

/** Removes the finalizer as well, as people do who cannot wait for the operator. */
async function deleteByForce(kind: string, name: string): Promise<void> {
  await remove(kind, name);
  await kubeRelease(plane(), path(kind, name));
}

const chain = { transformChain: 'resize/640x480' };

describe('a resource whose finalizer was removed by hand', () => {
  it.each(['while an operator watched', 'while no operator did'])(
    '%s leaves no row behind that it owns',
    async (when) => {
      const [name, kept] = [newSlug(), newSlug()];
      const declare = async () => {
        await apply('Project', name, {});
        await apply('Project', kept, { deletionPolicy: 'Retain' });
        await apply('Recipe', name, { projectRef: { name }, ...chain });
        await apply('WatermarkPreset', name, { projectRef: { name }, fileSlug: 'logo.png' });
      };
      const gone = async () => {
        for (const kind of ['Recipe', 'WatermarkPreset', 'Project'])
          await deleteByForce(kind, name);
        await deleteByForce('Project', kept);
      };
      await declare();
      await led(async () => {
        await untilReason('Project', name, 'InSync');
        await makeFile(db, await project(name), { file_slug: 'logo.png' });
        for (const kind of ['Recipe', 'WatermarkPreset']) await untilReason(kind, name, 'InSync');
        await untilReason('Project', kept, 'InSync');
        if (when === 'while an operator watched') await gone();
      });
      if (when === 'while no operator did') await gone();
      await led(() =>
        until(async () => {
          expect(await project(name)).toMatchObject({ status: 'suspended', owner_uid: null });
          expect(await project(kept)).toMatchObject({ status: 'active', owner_uid: null });
          expect(await recipes(name)).toEqual([]);
          expect(
            await db.query('select from watermark_presets where owner_name = $1', [name]),
          ).toEqual([]);
        }),
      );
    },
  );

  it('that is declared again under its name takes over its project and recreates its recipe', async () => {
    const name = newSlug();
    const declare = async () => {
      await apply('Project', name, {});
      await apply('Recipe', name, { projectRef: { name }, ...chain });
    };
    await declare();
    await led(() => untilReason('Recipe', name, 'InSync'));
    const before = await project(name);
    for (const kind of ['Recipe', 'Project']) await deleteByForce(kind, name);
    await declare();
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      await untilReason('Recipe', name, 'InSync');
    });
    expect(await project(name)).toMatchObject({ project_id: before.project_id, status: 'active' });
    expect((await recipes(name)).map((each) => each.name)).toEqual([name]);
  });
});

describe('a namespace that is deleted', () => {
  it('is deleted with everything in it, and its projects are suspended', async () => {
    const name = newSlug();
    const namespace = cluster.other();
    const spec = { projectRef: { name } };
    await apply('Project', name, { defaultWatermarkPresetRef: { name } }, { namespace });
    await apply('SigningKey', name, spec, { namespace });
    await apply('Recipe', name, { ...spec, ...chain }, { namespace });
    await apply('WatermarkPreset', name, { ...spec, fileSlug: 'logo.png' }, { namespace });
    await led(async () => {
      await untilReason('Recipe', name, 'InSync', namespace);
      await makeFile(db, await project(name), { file_slug: 'logo.png' });
      await untilReason('Project', name, 'InSync', namespace);
      await kubeOk(plane(), { method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
      for (const kind of ['Project', 'SigningKey', 'Recipe', 'WatermarkPreset']) {
        await untilGone(kind, name, namespace);
      }
      await until(async () => {
        const { status } = await kubeRequest(plane(), { path: `/api/v1/namespaces/${namespace}` });
        expect(status).toBe(404);
      });
    });
    expect(await project(name)).toMatchObject({ status: 'suspended', owner_uid: null });
    expect(await recipes(name)).toEqual([]);
  });
});

describe('rows of others', () => {
  it('are not adopted: a recipe of the API, a project of another organization', async () => {
    const [name, foreign] = [newSlug(), newSlug()];
    await apply('Project', name, {});
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      const { project_id, organization_id } = await project(name);
      await db.transaction((tx) =>
        upsertRecipe(tx, {
          ...{ recipe_id: id('rcp'), project_id, name: 'hero' },
          ...{ transform_chain: 'resize/9x9', schema_version: 1 },
        }),
      );
      await apply('Recipe', 'hero', { projectRef: { name }, ...chain });
      await untilReason('Recipe', 'hero', 'NameConflict');
      const { organization_id: another } = await makeOrganization(db);
      await makeProject(db, { organization_id: another, project_slug: foreign });
      await apply('Project', foreign, { adoptionPolicy: 'IfUnowned' });
      await untilReason('Project', foreign, 'SlugConflict');
      expect(another).not.toBe(organization_id);
      await remove('Recipe', 'hero');
      await remove('Project', foreign);
      await untilGone('Recipe', 'hero');
      await untilGone('Project', foreign);
    });
    expect((await recipes(name)).map((each) => each.name)).toEqual(['hero']);
    expect(await project(foreign)).toMatchObject({ status: 'active', owner_uid: null });
  });

  it('are named in the conflict over a slug, whether their resource exists or was deleted', async () => {
    const [first, second, slug] = [newSlug(), newSlug(), newSlug()];
    const message = async () => (await condition('Project', second))?.message;
    await apply('Project', first, { slug });
    await led(async () => {
      await untilReason('Project', first, 'InSync');
      await apply('Project', second, { slug });
      await untilReason('Project', second, 'SlugConflict');
      const owner = `${cluster.namespace()}/${first}`;
      expect(await message()).toBe(
        `the slug '${slug}' is taken by the Project ${owner}: delete this resource, and declare it again with another name or spec.slug`,
      );
      await remove('Project', first);
      await untilGone('Project', first);
      await untilReason('Project', second, 'NotOwned');
      expect(await message()).toBe(
        `the project '${slug}' was released when the Project ${owner} was deleted: declare it under that name again, or set adoptionPolicy to IfUnowned to take it over`,
      );
    });
  });

  it('suspended by staff are reported and never reactivated, not even by deletion', async () => {
    const name = newSlug();
    await apply('Project', name, { state: 'Active' });
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      await db.query(
        `update projects set status = 'suspended', suspended_by = 'staff' where project_slug = $1`,
        [name],
      );
      await untilReason('Project', name, 'SuspendedByStaff');
      const passes = await cluster.countPasses();
      await until(async () => expect(await cluster.countPasses()).toBeGreaterThan(passes + 5));
      expect(await condition('Project', name, 'Stalled')).toMatchObject({ status: 'True' });
      expect((await read('Project', name)).status).toMatchObject({ suspendedBy: 'staff' });
      await remove('Project', name);
      await untilGone('Project', name);
    });
    expect(await project(name)).toMatchObject({ status: 'suspended', suspended_by: 'staff' });
  });

  it('declared in a namespace of another installation stay with it', async () => {
    const [name, theirs] = [newSlug(), newSlug()];
    const elsewhere = await others.namespace();
    const { organization_id } = await makeOrganization(db);
    const { project_id } = await makeProject(db, { organization_id, project_slug: theirs });
    const uid = '11111111-2222-4333-8444-555555555555';
    await db.query(
      `update projects set owner_uid = $2, owner_namespace = $3, owner_name = $4,
         owner_deletion_policy = 'suspend' where project_id = $1`,
      [project_id, uid, elsewhere, theirs],
    );
    await apply('Project', name, { slug: theirs });
    await led(async () => {
      await untilReason('Project', name, 'SlugConflict');
      const passes = await cluster.countPasses();
      await until(async () => expect(await cluster.countPasses()).toBeGreaterThan(passes + 5));
      await remove('Project', name);
      await untilGone('Project', name);
    });
    // This installation does not see the resource, which is no reason to release its row.
    expect(await project(theirs)).toMatchObject({ status: 'active', owner_uid: uid });
  });

  it('are left alone if most of all rows have no resource here, as in another cluster’s database', async () => {
    const { organization_id } = await makeOrganization(db);
    const slugs = Array.from({ length: 200 }, newSlug);
    for (const [index, project_slug] of slugs.entries()) {
      const { project_id } = await makeProject(db, { organization_id, project_slug });
      await db.query(
        `update projects set owner_uid = $2, owner_namespace = $3, owner_name = $4,
           owner_deletion_policy = 'suspend' where project_id = $1`,
        [project_id, `gone-${index}`, cluster.namespace(), project_slug],
      );
    }
    const name = newSlug();
    await apply('Project', name, {});
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      const passes = await cluster.countPasses();
      await until(async () => expect(await cluster.countPasses()).toBeGreaterThan(passes + 20));
    });
    const left = await db.query(
      `select from projects where owner_uid like 'gone-%' and status = 'active'`,
    );
    expect(left).toHaveLength(slugs.length);
    // Clean up, so that most rows have a resource here again.
    await db.query("delete from projects where owner_uid like 'gone-%'");
  });
});
