/** How much a project may have, declared and through the API together. */
import { expect, it } from 'vitest';
import { RECIPES_MAX, WATERMARK_PRESETS_MAX } from '../../runtime/core/limits.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { makeFile, must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const { apply, condition, led, remove, untilGone, untilReason } = useTenantCluster({ db });

const fill = {
  recipes: `insert into recipes (recipe_id, project_id, name, transform_chain, schema_version)
    select 'rcp_' || left(md5($1 || n), 26), $1, 'many-' || n, 'quality/80', 1 from generate_series(1, $2::int) n
    where $3::text is not null`,
  watermark_presets: `insert into watermark_presets
      (watermark_preset_id, project_id, name, file_id, x_offset, y_offset, opacity)
    select 'wm_' || left(md5($1 || n), 26), $1, 'many-' || n, $3, 0, 0, 100 from generate_series(1, $2::int) n`,
} as const;

it.each([
  {
    kind: 'Recipe',
    table: 'recipes',
    most: RECIPES_MAX,
    what: 'recipes',
    spec: { transformChain: 'resize/640x480' },
    other: { transformChain: 'resize/320x240' },
  },
  {
    kind: 'WatermarkPreset',
    table: 'watermark_presets',
    most: WATERMARK_PRESETS_MAX,
    what: 'watermark presets',
    spec: { fileSlug: 'logo.png' },
    other: { fileSlug: 'logo.png', opacityPercent: 50 },
  },
] as const)(
  'a project has no more $what than the API allows; those that are there are changed and make room',
  async ({ kind, table, most, what, spec, other }) => {
    const slug = newSlug();
    const [last, late] = [newSlug(), newSlug()];
    const projectRef = { name: slug };
    await apply('Project', slug, {});
    await led(async () => {
      await untilReason('Project', slug, 'InSync');
      const project = must(await findProjectBySlug(db, slug));
      const { project_id } = project;
      const { file_id } = await makeFile(db, project, { file_slug: 'logo.png' });
      const count = async () => {
        const query = `select count(*) from ${table} where project_id = $1`;
        return (await db.query<{ count: number }>(query, [project_id]))[0]?.count;
      };
      await db.query(fill[table], [project_id, most - 1, file_id]);
      await apply(kind, last, { projectRef, ...spec });
      await untilReason(kind, last, 'InSync');
      await apply(kind, late, { projectRef, ...spec });
      await untilReason(kind, late, 'LimitReached');
      expect((await condition(kind, late))?.message).toBe(
        `the project has 1000 ${what} already, the most that it may have: delete one of them, and this one is made by itself`,
      );
      expect(await count()).toBe(most);
      await apply(kind, last, { projectRef, displayName: 'renamed', ...other });
      await untilReason(kind, last, 'InSync');
      await remove(kind, last);
      await untilGone(kind, last);
      await untilReason(kind, late, 'InSync');
      await until(async () => expect(await count()).toBe(most));
    });
  },
);
