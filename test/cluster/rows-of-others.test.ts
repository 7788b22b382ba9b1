// Spec: Project (status).

import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../runtime/core/durations.ts';
import {
  deleteDeclaredRowChanges,
  listDeclaredRowChanges,
} from '../../runtime/db/declared-row-changes.ts';
import { updateFileBlocked } from '../../runtime/db/files.ts';
import { findProjectBySlug, updateProject } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { kubeOk } from '../support/kube-request.ts';
import { makeFile, must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
/** Long intervals, so that nothing is examined again without a change. */
const cluster = useTenantCluster({
  db,
  often: { resync_ms: HOUR_MS, retry_ms: HOUR_MS, poll_ms: 50 },
});
const { apply, led, read, untilReason } = cluster;
const kinds = ['Project', 'SigningKey', 'WatermarkPreset', 'Recipe'] as const;

/** A project with one resource of each other kind. */
async function declareAll(): Promise<string> {
  const name = newSlug();
  const projectRef = { name };
  await apply('Project', name, { displayName: 'Shop' });
  await untilReason('Project', name, 'InSync');
  await makeFile(db, must(await findProjectBySlug(db, name)), { file_slug: 'logo.png' });
  await apply('SigningKey', name, { projectRef, rotationTrigger: '1' });
  await apply('WatermarkPreset', name, { projectRef, fileSlug: 'logo.png' });
  await apply('Recipe', name, { projectRef, transformChain: 'resize/9x9' });
  for (const kind of kinds) await untilReason(kind, name, 'InSync');
  return name;
}

/** The columns that `kubectl get` shows. */
async function columns(kind: string, name: string): Promise<Record<string, unknown>> {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const path = cluster.path(kind, name);
  const table = (await kubeOk(cluster.plane(), { path, accept })) as {
    columnDefinitions?: { name: string }[];
    rows?: { cells: unknown[] }[];
  };
  const cells = must(must(table.rows)[0]).cells;
  return Object.fromEntries(
    must(table.columnDefinitions).map(({ name: of }, at) => [of, cells[at]]),
  );
}

/** The number of changes noted so far, including those that were already processed. */
async function countNoted(): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'select case when is_called then last_value else 0 end as count from declared_row_versions',
  );
  return must(row).count;
}

const changesIn = (namespace: string) =>
  listDeclaredRowChanges(db, { namespaces: [namespace], limit: 1000 });

describe('a change that others make to the rows of a resource', () => {
  it('is reported immediately if they may make it: a suspended project, a blocked file', async () => {
    await led(async () => {
      const name = await declareAll();
      await declareAll();
      const { project_id } = must(await findProjectBySlug(db, name));
      const passes = await cluster.countPasses('Recipe');
      const suspended = { status: 'suspended', suspended_by: 'staff' } as const;
      await updateProject(db, { project_id, changes: suspended });
      await until(async () =>
        expect((await read('Project', name)).status).toMatchObject({ suspendedBy: 'staff' }),
      );
      const [{ file_id }] = (await db.query('select file_id from files where project_id = $1', [
        project_id,
      ])) as [{ file_id: string }];
      await db.transaction((tx) =>
        updateFileBlocked(tx, { file_id, blocked_by: 'staff', reason: 'no' }),
      );
      await untilReason('WatermarkPreset', name, 'FileBlocked');
      expect(await cluster.countPasses('Recipe')).toBe(passes);
    });
  });

  it('is shown by kubectl get: a suspended project, a replaced file', async () => {
    await led(async () => {
      const name = await declareAll();
      const host = `${name}.images.example`;
      const { project_id } = must(await findProjectBySlug(db, name));
      expect(await columns('Project', name)).toMatchObject({ Host: host, 'Suspended By': null });
      expect(await columns('WatermarkPreset', name)).toMatchObject({ Project: name, Revision: 1 });
      await makeFile(db, { project_id }, { file_slug: 'logo.png' });
      await until(async () =>
        expect(await columns('WatermarkPreset', name)).toMatchObject({ Revision: 2 }),
      );
      const suspended = { status: 'suspended', suspended_by: 'owner' } as const;
      await updateProject(db, { project_id, changes: suspended });
      await until(async () =>
        expect(await columns('Project', name)).toMatchObject({
          'Suspended By': 'owner',
          Reason: 'InSync',
        }),
      );
    });
  });

  it('is reported immediately by a Recipe that refers to the changed project', async () => {
    await led(async () => {
      const name = await declareAll();
      const spec = { projectRef: { name }, transformChain: 'preset:thumb' };
      await apply('Recipe', `${name}-thumb`, spec);
      const message = async () => (await cluster.condition('Recipe', `${name}-thumb`))?.message;
      await until(async () => expect(await message()).toContain('the project has none'));
      const { project_id } = must(await findProjectBySlug(db, name));
      const resolution_presets = { thumb: 'resize/9x9' };
      await updateProject(db, { project_id, changes: { resolution_presets } });
      await until(async () => expect(await message()).toBe('the recipe is as declared'));
    });
  });

  it('is reverted immediately if they may not make it', async () => {
    await led(async () => {
      const name = await declareAll();
      const chains = () =>
        db.query('select transform_chain from recipes where owner_name = $1', [name]);
      await db.query(`update recipes set transform_chain = 'resize/1x1' where owner_name = $1`, [
        name,
      ]);
      await until(async () => expect(await chains()).toEqual([{ transform_chain: 'resize/9x9' }]));
      await db.query('delete from recipes where owner_name = $1', [name]);
      await until(async () => expect(await chains()).toEqual([{ transform_chain: 'resize/9x9' }]));
      await db.query(`update projects set name = 'Store' where owner_name = $1`, [name]);
      await until(async () =>
        expect(await findProjectBySlug(db, name)).toMatchObject({ name: 'Shop' }),
      );
    });
  });

  it('leads to a look at every resource if there were too many changes', async () => {
    await led(async () => {
      const name = await declareAll();
      await db.query(
        `insert into declared_row_changes (kind, owner_namespace, owner_name)
         select 'Recipe', $1, 'r' || n from generate_series(1, 600) n`,
        [cluster.namespace()],
      );
      const passes = await cluster.countPasses('Project');
      await until(async () => expect(await cluster.countPasses('Project')).toBeGreaterThan(passes));
      await until(async () => expect(await changesIn(cluster.namespace())).toEqual([]));
      expect((await read('Project', name)).status).toMatchObject({ observedGeneration: 1 });
    });
  });
});

it('changes that the operator writes itself are not noted', async () => {
  await led(async () => {
    const name = await declareAll();
    const noted = await countNoted();
    await apply('Project', name, { displayName: 'Store', staff: { pricingMultiplier: '2' } });
    await apply('SigningKey', name, { projectRef: { name }, rotationTrigger: '2' });
    await until(async () => {
      const project = await findProjectBySlug(db, name);
      const keys = await db.query('select from signing_keys where project_id = $1', [
        must(project).project_id,
      ]);
      expect([project?.name, keys]).toEqual(['Store', [{}, {}]]);
    });
    expect(await countNoted()).toBe(noted);
  });
});

it('every column of projects is watched, except counters and columns that never change', async () => {
  const columns = await db.query<{ column_name: string }>(
    `select column_name from information_schema.columns where table_name = 'projects'
     except
     select event_object_column from information_schema.triggered_update_columns
     where trigger_name = 'projects_declared' order by 1`,
  );
  expect(columns.map(({ column_name }) => column_name)).toEqual([
    ...['created_at', 'file_count', 'generation', 'organization_id', 'project_id'],
    ...['project_slug', 'reserved_bytes', 'storage_bytes', 'updated_at'],
  ]);
});

it('a noted change is kept until it was seen, even if it comes while another is being deleted', async () => {
  const change = (name: string) =>
    db.query(`select note_declared('Recipe', 'elsewhere', $1)`, [name]);
  const names = async () => {
    const rows = await changesIn('elsewhere');
    return rows.map(({ owner_name }) => owner_name).toSorted();
  };
  await db.query(`delete from declared_row_changes where owner_namespace = 'elsewhere'`);
  for (const name of ['seen', 'again', 'late']) await change(name);
  const read = await changesIn('elsewhere');
  await change('again');
  await db.transaction(async (tx) => {
    await tx.query(`select note_declared('Recipe', 'elsewhere', 'late')`);
    await db.transaction((other) => deleteDeclaredRowChanges(other, read));
  });
  expect(await names()).toEqual(['again', 'late']);
});

it('a status that somebody else wrote, such as a former leader, is corrected immediately', async () => {
  await led(async () => {
    const name = await declareAll();
    const right = (await read('Recipe', name)).status;
    const wrong = {
      ...right,
      conditions: right.conditions?.map((each) => ({ ...each, message: 'as it was' })),
    };
    await kubeOk(cluster.plane(), {
      ...{ method: 'PATCH', path: `${cluster.path('Recipe', name)}/status` },
      ...{ content_type: 'application/merge-patch+json', body: { status: wrong } },
    });
    await until(async () => expect((await read('Recipe', name)).status).toEqual(right));
    const passes = await cluster.countPasses('Project');
    await apply('Project', name, { displayName: 'Store' });
    await until(async () => expect(await cluster.countPasses('Project')).toBe(passes + 1));
  });
});
