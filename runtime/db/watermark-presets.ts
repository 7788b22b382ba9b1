// Table watermark_presets, each row read with the current revision of its file. Spec: Watermark preset.
import type { Queryable, Transaction } from './client.ts';
import type { OwnerColumns } from './declared-rows.ts';
import { onlyRow } from './rows.ts';

export type WatermarkPresetRow = OwnerColumns & {
  watermark_preset_id: string;
  project_id: string;
  name: string;
  file_id: string;
  x_offset: number;
  y_offset: number;
  opacity: number;
  created_at: Date;
  updated_at: Date;
  file_slug: string;
  revision: number;
  object_key: string;
  width: number;
  height: number;
};

export type NewWatermarkPreset = Pick<
  WatermarkPresetRow,
  'watermark_preset_id' | 'project_id' | 'name' | 'file_id' | 'x_offset' | 'y_offset' | 'opacity'
> &
  Partial<OwnerColumns>;

type PresetOfProject = { project_id: string; watermark_preset_id: string };

const SELECT = `
  select w.*, f.file_slug, f.revision, r.object_key, r.width, r.height
  from watermark_presets w
  join files f on f.file_id = w.file_id
  join file_revisions r on r.file_id = f.file_id and r.revision = f.revision`;

/**
 * Inserts the preset, or replaces the one with this id. A taken name violates
 * watermark_presets_name_taken.
 */
export async function upsertWatermarkPreset(
  tx: Transaction,
  preset: NewWatermarkPreset,
): Promise<{ row: WatermarkPresetRow; outcome: 'created' | 'replaced' } | undefined> {
  const [written] = await tx.query<{ was_inserted: boolean }>(
    `insert into watermark_presets (watermark_preset_id, project_id, name, file_id, x_offset, y_offset,
       opacity, owner_uid, owner_namespace, owner_name)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (watermark_preset_id) do update set name = excluded.name, file_id = excluded.file_id,
       x_offset = excluded.x_offset, y_offset = excluded.y_offset, opacity = excluded.opacity,
       owner_uid = coalesce(excluded.owner_uid, watermark_presets.owner_uid),
       owner_namespace = coalesce(excluded.owner_namespace, watermark_presets.owner_namespace),
       owner_name = coalesce(excluded.owner_name, watermark_presets.owner_name), updated_at = now()
     where watermark_presets.project_id = excluded.project_id
     returning xmax = 0 as was_inserted`,
    [
      preset.watermark_preset_id,
      preset.project_id,
      preset.name,
      preset.file_id,
      preset.x_offset,
      preset.y_offset,
      preset.opacity,
      preset.owner_uid ?? null,
      preset.owner_namespace ?? null,
      preset.owner_name ?? null,
    ],
  );
  const row = written && (await findWatermarkPreset(tx, preset));
  return row && { row, outcome: written.was_inserted ? 'created' : 'replaced' };
}

export async function findWatermarkPreset(
  db: Queryable,
  { project_id, watermark_preset_id }: PresetOfProject,
): Promise<WatermarkPresetRow | undefined> {
  const rows = await db.query<WatermarkPresetRow>(
    `${SELECT} where w.project_id = $1 and w.watermark_preset_id = $2`,
    [project_id, watermark_preset_id],
  );
  return rows[0];
}

/** Every preset of a project, newest first. */
export async function listWatermarkPresets(
  db: Queryable,
  projectId: string,
): Promise<WatermarkPresetRow[]> {
  return db.query(
    `${SELECT} where w.project_id = $1 order by w.created_at desc, w.watermark_preset_id desc`,
    [projectId],
  );
}

export async function countWatermarkPresets(db: Queryable, projectId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'select count(*) from watermark_presets where project_id = $1',
    [projectId],
  );
  return onlyRow(row).count;
}

/**
 * False if there is no such preset. The project's default violates
 * projects_default_watermark_in_use.
 */
export async function deleteWatermarkPreset(
  tx: Transaction,
  { project_id, watermark_preset_id }: PresetOfProject,
): Promise<boolean> {
  const rows = await tx.query(
    `delete from watermark_presets where project_id = $1 and watermark_preset_id = $2
     returning watermark_preset_id`,
    [project_id, watermark_preset_id],
  );
  return rows.length > 0;
}

/** Whether any preset draws this file. */
export async function hasWatermarkPresetOfFile(db: Queryable, fileId: string): Promise<boolean> {
  const rows = await db.query('select 1 from watermark_presets where file_id = $1 limit 1', [
    fileId,
  ]);
  return rows.length > 0;
}

/** The presets that draw this file. */
export async function listWatermarkPresetsOfFile(
  db: Queryable,
  fileId: string,
): Promise<WatermarkPresetRow[]> {
  return db.query(`${SELECT} where w.file_id = $1 order by w.watermark_preset_id`, [fileId]);
}

/** Deletes the presets that draw this file, including the project's default. */
export async function deleteWatermarkPresetsOfFile(tx: Transaction, fileId: string): Promise<void> {
  await tx.query(
    `update projects set default_watermark_preset_id = null, version = version + 1, updated_at = now()
     from watermark_presets w
     where w.file_id = $1 and projects.project_id = w.project_id
       and projects.default_watermark_preset_id = w.watermark_preset_id`,
    [fileId],
  );
  await tx.query('delete from watermark_presets where file_id = $1', [fileId]);
}
