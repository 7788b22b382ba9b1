// All resources are recreated on the same database, as from Git after the loss of a cluster. Spec: Project; Recipe.
import { expect, it } from 'vitest';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { makeFile, must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });
const { apply, led, remove, untilGone, untilReason } = cluster;

const RECIPES = 15;

function idsOf(project_id: string) {
  return Promise.all(
    ['recipes', 'watermark_presets', 'signing_keys'].map((table) =>
      db.query<Record<string, unknown>>(`select * from ${table} where project_id = $1 order by 1`, [
        project_id,
      ]),
    ),
  );
}

it('recreated resources take over the rows of their namesakes, and none counts as another cluster’s', async () => {
  const name = newSlug();
  const projectRef = { name };
  const recipes = Array.from({ length: RECIPES }, (_, at) => `${name}-${at}`);
  const all = [
    ['Project', name, {}],
    ['SigningKey', name, { projectRef, rotationTrigger: '1' }],
    ['WatermarkPreset', name, { projectRef, fileSlug: 'logo.png' }],
    ...recipes.map((each) => ['Recipe', each, { projectRef, transformChain: 'resize/9x9' }]),
  ] as [string, string, object][];
  await apply('Project', name, {});
  await led(() => untilReason('Project', name, 'InSync'));
  const { project_id } = must(await findProjectBySlug(db, name));
  await makeFile(db, must(await findProjectBySlug(db, name)), { file_slug: 'logo.png' });
  for (const each of all) await apply(...each);
  await led(async () => {
    for (const [kind, each] of all) await untilReason(kind, each, 'InSync');
  });
  const before = await idsOf(project_id);
  // As if the rows had been created for earlier resources.
  for (const table of ['projects', 'recipes', 'watermark_presets', 'signing_keys']) {
    await db.query(`update ${table} set owner_uid = 'before-' || owner_uid where project_id = $1`, [
      project_id,
    ]);
  }
  await led(async () => {
    for (const [kind, each] of all) await untilReason(kind, each, 'InSync');
    await expect
      .poll(() => idsOf(project_id).then((rows) => rows.flat().map(known)))
      .toEqual(before.flat().map(known));
  });
});

/** Everything except the time of the last write. */
function known({ updated_at: _, ...row }: Record<string, unknown>) {
  return row;
}

it('a project moves to another namespace only if staff name its organization', async () => {
  const name = newSlug();
  const namespace = cluster.other();
  const adopted = { adoptionPolicy: 'IfUnowned' };
  await apply('Project', name, {});
  await led(async () => {
    await untilReason('Project', name, 'InSync');
    const before = must(await findProjectBySlug(db, name));
    await remove('Project', name);
    await untilGone('Project', name);
    await apply('Project', name, adopted, { namespace });
    await untilReason('Project', name, 'SlugConflict', namespace);
    const { project_id, organization_id } = before;
    const staff = { organizationId: organization_id };
    await apply('Project', name, { ...adopted, staff }, { namespace });
    await untilReason('Project', name, 'InSync', namespace);
    const chain = { transformChain: 'resize/9x9' };
    await apply('Recipe', name, { projectRef: { name }, ...chain }, { namespace });
    await untilReason('Recipe', name, 'InSync', namespace);
    expect(await findProjectBySlug(db, name)).toMatchObject({
      ...{ project_id, organization_id, status: 'active', owner_namespace: namespace },
    });
  });
});

it.each([
  ['after the old Project released it', false],
  ['before that', true],
])(
  'a project moves with its default watermark, which is declared in the new namespace %s',
  async (_when, isPaused) => {
    const name = newSlug();
    const [namespace, wanted] = [cluster.other(), { defaultWatermarkPresetRef: { name } }];
    const preset = { projectRef: { name }, fileSlug: 'logo.png' };
    const presets = async () => {
      const { project_id } = must(await findProjectBySlug(db, name));
      return db.query(
        'select watermark_preset_id, name, owner_namespace from watermark_presets where project_id = $1',
        [project_id],
      );
    };
    await apply('Project', name, wanted);
    await apply('WatermarkPreset', name, preset);
    await led(async () => {
      await untilReason('WatermarkPreset', name, 'FileNotFound');
      const { organization_id, project_id } = must(await findProjectBySlug(db, name));
      await makeFile(db, { project_id }, { file_slug: 'logo.png' });
      await untilReason('Project', name, 'InSync');
      if (isPaused) {
        const annotations = { 'tintype.dev/paused': 'true' };
        await apply('WatermarkPreset', name, preset, { annotations });
      }
      for (const kind of ['Project', 'WatermarkPreset']) await remove(kind, name);
      await untilGone('Project', name);
      if (!isPaused) await untilGone('WatermarkPreset', name);
      const staff = { organizationId: organization_id };
      const moved = { ...wanted, adoptionPolicy: 'IfUnowned', staff };
      await apply('Project', name, moved, { namespace });
      await apply('WatermarkPreset', name, preset, { namespace });
      if (isPaused) {
        await untilReason('WatermarkPreset', name, 'NameConflict', namespace);
        await apply('WatermarkPreset', name, preset, { annotations: {} });
        await untilGone('WatermarkPreset', name);
      }
      await untilReason('WatermarkPreset', name, 'InSync', namespace);
      await untilReason('Project', name, 'InSync', namespace);
      await until(async () =>
        expect(await presets()).toMatchObject([{ name, owner_namespace: namespace }]),
      );
      const [row] = await presets();
      const { default_watermark_preset_id } = must(await findProjectBySlug(db, name));
      expect(row).toMatchObject({ watermark_preset_id: default_watermark_preset_id });
    });
  },
);
