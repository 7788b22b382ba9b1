/** Names that are unique within a project, declared and exchanged by several resources. */
import { expect, it } from 'vitest';
import { WATERMARK_PRESETS_MAX } from '../../runtime/core/limits.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { upsertRecipe } from '../../runtime/db/recipes.ts';
import { useDatabase } from '../support/database.ts';
import { kubeRelease } from '../support/kube-request.ts';
import { id, makeFile, makeWatermarkPresets, must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });
const { apply, condition, countPasses, led, namespace, path, plane, read } = cluster;
const { remove, untilGone, untilReason } = cluster;

const project = async (slug: string) => must(await findProjectBySlug(db, slug));

const chain = { transformChain: 'resize/640x480' };

/** The names in the rows, by the name of the owning resource. */
async function names(table: 'recipes' | 'watermark_presets', slug: string) {
  const { project_id } = await project(slug);
  const rows = await db.query<{ owner_name: string; name: string }>(
    `select owner_name, name from ${table} where project_id = $1`,
    [project_id],
  );
  return Object.fromEntries(rows.map(({ owner_name, name }) => [owner_name, name]));
}

async function declare(kind: string, slug: string, wanted: Record<string, string>) {
  const rest = kind === 'Recipe' ? chain : { fileSlug: 'logo.png' };
  for (const [name, displayName] of Object.entries(wanted)) {
    await apply(kind, name, { projectRef: { name: slug }, displayName, ...rest });
  }
}

it.each([
  ['Recipe', 'recipes'],
  ['WatermarkPreset', 'watermark_presets'],
] as const)('%ss swap their names, two of them and three in a cycle', async (kind, table) => {
  const slug = newSlug();
  const [a, b, c] = [newSlug(), newSlug(), newSlug()];
  await apply('Project', slug, {});
  const become = async (wanted: Record<string, string>) => {
    await declare(kind, slug, wanted);
    await until(async () => expect(await names(table, slug)).toEqual(wanted));
    for (const name of Object.keys(wanted)) await untilReason(kind, name, 'InSync');
  };
  await led(async () => {
    await untilReason('Project', slug, 'InSync');
    await makeFile(db, await project(slug), { file_slug: 'logo.png' });
    await become({ [a]: 'x', [b]: 'y', [c]: 'z' });
    const ids = () =>
      db.query<Record<string, unknown>>(`select * from ${table} where owner_name = $1`, [a]);
    const [before] = await ids();
    await become({ [a]: 'y', [b]: 'x', [c]: 'z' });
    await become({ [a]: 'z', [b]: 'y', [c]: 'x' });
    const [after] = await ids();
    expect({ ...after, name: 'x', updated_at: 0 }).toEqual({ ...before, updated_at: 0 });
  });
});

it('a name is not taken from a paused resource or a row of the API, and the conflict names the holder', async () => {
  const slug = newSlug();
  const [a, b] = [newSlug(), newSlug()];
  await apply('Project', slug, {});
  const projectRef = { name: slug };
  await led(async () => {
    await untilReason('Project', slug, 'InSync');
    const { project_id } = await project(slug);
    await upsertRecipe(db, {
      ...{ recipe_id: id('rcp'), project_id, name: 'hero', transform_chain: 'resize/9x9' },
      schema_version: 1,
    });
    await declare('Recipe', slug, { [a]: 'x', [b]: 'y' });
    for (const name of [a, b]) await untilReason('Recipe', name, 'InSync');
    const annotations = { 'tintype.dev/paused': 'true' };
    await apply('Recipe', b, { projectRef, displayName: 'x', ...chain }, { annotations });
    await declare('Recipe', slug, { [a]: 'y' });
    await untilReason('Recipe', a, 'NameConflict');
    expect((await condition('Recipe', a))?.message).toBe(
      `the project already has a recipe 'y', that of the Recipe ${namespace()}/${b}: set displayName to another name`,
    );
    expect(await names('recipes', slug)).toMatchObject({ [a]: 'x', [b]: 'y' });
    await apply('Recipe', b, { projectRef, displayName: 'hero', ...chain });
    await untilReason('Recipe', b, 'NameConflict');
    expect((await condition('Recipe', b))?.message).toBe(
      `the project already has a recipe 'hero': set displayName to another name`,
    );
    // A resource that waits for a taken name keeps its current name.
    await untilReason('Recipe', a, 'NameConflict');
    expect(await names('recipes', slug)).toMatchObject({ [a]: 'x', [b]: 'y', null: 'hero' });
  });
});

it.each([
  ['alone', 0],
  ['of as many as the limit allows', WATERMARK_PRESETS_MAX - 1],
] as const)(
  'the default watermark, %s, moves to a new resource of its name once the old one is deleted',
  async (_what, others) => {
    const slug = newSlug();
    const [w1, w2, w3] = [newSlug(), newSlug(), newSlug()];
    const refer = (name: string) => apply('Project', slug, { defaultWatermarkPresetRef: { name } });
    await apply('Project', slug, {});
    await led(async () => {
      await untilReason('Project', slug, 'InSync');
      const { project_id } = await project(slug);
      const file = await makeFile(db, { project_id }, { file_slug: 'logo.png' });
      await makeWatermarkPresets(db, file, others);
      await declare('WatermarkPreset', slug, { [w1]: 'Corner' });
      await untilReason('WatermarkPreset', w1, 'InSync');
      await refer(w1);
      await untilReason('Project', slug, 'InSync');
      const before = (await project(slug)).default_watermark_preset_id;
      if (others > 0) {
        // The room that is reserved for the successor is not available to another preset.
        await declare('WatermarkPreset', slug, { [w3]: 'Edge' });
        await untilReason('WatermarkPreset', w3, 'LimitReached');
      }
      await declare('WatermarkPreset', slug, { [w2]: 'Corner' });
      await untilReason('WatermarkPreset', w2, 'NameConflict');
      await refer(w2);
      await untilReason('Project', slug, 'WatermarkPresetNotFound');
      expect((await project(slug)).default_watermark_preset_id).toBe(before);
      await remove('WatermarkPreset', w1);
      await untilReason('WatermarkPreset', w2, 'InSync');
      await untilReason('Project', slug, 'InSync');
      await untilGone('WatermarkPreset', w1);
      expect(await names('watermark_presets', slug)).toMatchObject({ [w2]: 'Corner' });
      const { default_watermark_preset_id } = await project(slug);
      const [row] = await db.query<{ watermark_preset_id: string }>(
        'select watermark_preset_id from watermark_presets where owner_name = $1',
        [w2],
      );
      expect(default_watermark_preset_id).toBe(row?.watermark_preset_id);
      if (others === 0) return;
      await untilReason('WatermarkPreset', w3, 'LimitReached');
      await remove('WatermarkPreset', w3);
      await untilGone('WatermarkPreset', w3);
    });
  },
);

it('a default watermark that its project kept gives its name up to a preset of an adopting Project', async () => {
  const [a, b, slug] = [newSlug(), newSlug(), newSlug()];
  const declareAll = async (name: string) => {
    const spec = { slug, adoptionPolicy: 'IfUnowned', defaultWatermarkPresetRef: { name } };
    await apply('Project', name, spec);
    await apply('WatermarkPreset', name, {
      ...{ projectRef: { name }, displayName: 'Corner', fileSlug: 'logo.png' },
    });
  };
  await declareAll(a);
  await led(async () => {
    await untilReason('WatermarkPreset', a, 'FileNotFound');
    await makeFile(db, await project(slug), { file_slug: 'logo.png' });
    await untilReason('Project', a, 'InSync');
    const { default_watermark_preset_id } = await project(slug);
    for (const kind of ['Project', 'WatermarkPreset']) await remove(kind, a);
    for (const kind of ['Project', 'WatermarkPreset']) await untilGone(kind, a);
    expect(await project(slug)).toMatchObject({ default_watermark_preset_id });
    expect(await names('watermark_presets', slug)).toEqual({ [a]: 'Corner' });
    await declareAll(b);
    for (const kind of ['Project', 'WatermarkPreset']) await untilReason(kind, b, 'InSync');
    await until(async () =>
      expect(await names('watermark_presets', slug)).toEqual({ [b]: 'Corner' }),
    );
  });
});

it('a name is free once its resource was removed by force, unless that is of another cluster', async () => {
  const [slug, a, b] = [newSlug(), newSlug(), newSlug()];
  await apply('Project', slug, {});
  await led(async () => {
    await untilReason('Project', slug, 'InSync');
    await makeFile(db, await project(slug), { file_slug: 'logo.png' });
    await declare('WatermarkPreset', slug, { [a]: 'Corner' });
    await untilReason('WatermarkPreset', a, 'InSync');
    await apply('Project', slug, { defaultWatermarkPresetRef: { name: a } });
    await untilReason('Project', slug, 'InSync');
  });
  const { uid } = (await read('WatermarkPreset', a)).metadata;
  await remove('WatermarkPreset', a);
  await kubeRelease(plane(), path('WatermarkPreset', a));
  await apply('Project', slug, { defaultWatermarkPresetRef: { name: b } });
  await declare('WatermarkPreset', slug, { [b]: 'Corner' });
  await db.query('insert into owners_elsewhere (owner_uid) values ($1)', [uid]);
  await led(async () => {
    await untilReason('WatermarkPreset', b, 'NameConflict');
    const passes = await countPasses('WatermarkPreset');
    await until(async () =>
      expect(await countPasses('WatermarkPreset')).toBeGreaterThan(passes + 3),
    );
    expect(await names('watermark_presets', slug)).toEqual({ [a]: 'Corner' });
    await db.query('delete from owners_elsewhere where owner_uid = $1', [uid]);
    await untilReason('WatermarkPreset', b, 'InSync');
    await untilReason('Project', slug, 'InSync');
  });
});
