/**
 * Names that are unique within a project, as declared resources take and exchange them. Spec: Watermark preset; Recipe.
 */
import type { Queryable, Transaction } from './client.ts';
import type { OwnerColumns } from './declared-rows.ts';

const IDS = { watermark_presets: 'watermark_preset_id', recipes: 'recipe_id' } as const;

export type NamedTable = keyof typeof IDS;

export type NameHolder = OwnerColumns & { id: string; name: string };

/** `is_default`: the watermark preset is its project's default. */
export type HolderRow = NameHolder & { is_default: boolean };

const IS_DEFAULT = {
  watermark_presets: `exists (select from projects p where p.project_id = t.project_id
       and p.default_watermark_preset_id = t.watermark_preset_id)`,
  recipes: 'false',
} as const;

/** The row of the project that has this name, unless the resource owns it. */
export async function findNameHolder(
  db: Queryable,
  table: NamedTable,
  wanted: { project_id: string; name: string; owner_uid: string },
): Promise<HolderRow | undefined> {
  const [row] = await db.query<HolderRow>(
    `select ${IDS[table]} as id, name, owner_uid, owner_namespace, owner_name, ${IS_DEFAULT[table]} as is_default
     from ${table} as t where project_id = $1 and name = $2 and owner_uid is distinct from $3`,
    [wanted.project_id, wanted.name, wanted.owner_uid],
  );
  return row;
}

export type Renaming = { id: string; from: string; to: string };

/**
 * Gives each row its new name. The row `own_id` gets a placeholder, which the caller replaces in
 * the same transaction.
 */
export async function exchangeNames(
  tx: Transaction,
  table: NamedTable,
  { renamings, own_id }: { renamings: readonly Renaming[]; own_id: string | null },
): Promise<void> {
  const ids = renamings.map(({ id }) => id);
  const id = IDS[table];
  // The unique constraint is checked row by row, so all rows first get placeholders: no declared
  // name begins with a space.
  await tx.query(`update ${table} set name = ' ' || ${id} where ${id} = any($1::text[])`, [
    [...ids, ...(own_id === null ? [] : [own_id])],
  ]);
  await tx.query(
    `update ${table} as t set name = r.name, updated_at = now()
     from unnest($1::text[], $2::text[]) as r (id, name) where t.${id} = r.id`,
    [ids, renamings.map(({ to }) => to)],
  );
}
