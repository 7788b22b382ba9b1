/** How many objects a project may have, declared and created through the API together. */
import { expect, it } from 'vitest';
import { RECIPES_MAX, WATERMARK_PRESETS_MAX } from '../../runtime/core/limits.ts';
import type { Queryable } from '../../runtime/db/client.ts';
import type { FileRow } from '../../runtime/db/files.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { makeFile, makeWatermarkPresets, must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const { apply, condition, led, remove, untilGone, untilReason } = useTenantCluster({ db });

const fill = {
  recipes: (_: Queryable, { project_id }: FileRow, count: number) =>
    db.query(
      `insert into recipes (recipe_id, project_id, name, transform_chain, schema_version)
       select 'rcp_' || left(md5($1 || n), 26), $1, 'many-' || n, 'quality/80', 1 from generate_series(1, $2::int) n`,
      [project_id, count],
    ),
  watermark_presets: makeWatermarkPresets,
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
  'a project has at most as many $what as the API allows, and a deleted one makes room',
  async ({ kind, table, most, what, spec, other }) => {
    const slug = newSlug();
    const [last, late] = [newSlug(), newSlug()];
    const projectRef = { name: slug };
    await apply('Project', slug, {});
    await led(async () => {
      await untilReason('Project', slug, 'InSync');
      const project = must(await findProjectBySlug(db, slug));
      const { project_id } = project;
      const file = await makeFile(db, project, { file_slug: 'logo.png' });
      const count = async () => {
        const query = `select count(*) from ${table} where project_id = $1`;
        return (await db.query<{ count: number }>(query, [project_id]))[0]?.count;
      };
      await fill[table](db, file, most - 1);
      await apply(kind, last, { projectRef, ...spec });
      await untilReason(kind, last, 'InSync');
      await apply(kind, late, { projectRef, ...spec });
      await untilReason(kind, late, 'LimitReached');
      expect((await condition(kind, late))?.message).toBe(
        `the project already has 1000 ${what}, the maximum: delete one of them, and this one is created by itself`,
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
