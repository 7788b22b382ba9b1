// Table recipes: stored names for transform chains. Spec: Recipe.
import type { Queryable } from './client.ts';
import type { OwnerColumns } from './declared-rows.ts';
import { onlyRow } from './rows.ts';

export type RecipeRow = OwnerColumns & {
  recipe_id: string;
  project_id: string;
  name: string;
  transform_chain: string;
  schema_version: number;
  created_at: Date;
  updated_at: Date;
};

export type NewRecipe = Pick<
  RecipeRow,
  'recipe_id' | 'project_id' | 'name' | 'transform_chain' | 'schema_version'
> &
  Partial<OwnerColumns>;

type RecipeOfProject = { project_id: string; recipe_id: string };

/**
 * Inserts the recipe, or replaces the one with this id. A taken name violates recipes_name_taken.
 */
export async function upsertRecipe(
  db: Queryable,
  recipe: NewRecipe,
): Promise<{ row: RecipeRow; outcome: 'created' | 'replaced' } | undefined> {
  const [written] = await db.query<RecipeRow & { was_inserted: boolean }>(
    `insert into recipes (recipe_id, project_id, name, transform_chain, schema_version,
       owner_uid, owner_namespace, owner_name)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (recipe_id) do update set name = excluded.name,
       transform_chain = excluded.transform_chain, schema_version = excluded.schema_version,
       owner_uid = coalesce(excluded.owner_uid, recipes.owner_uid),
       owner_namespace = coalesce(excluded.owner_namespace, recipes.owner_namespace),
       owner_name = coalesce(excluded.owner_name, recipes.owner_name), updated_at = now()
     where recipes.project_id = excluded.project_id
     returning *, xmax = 0 as was_inserted`,
    [
      recipe.recipe_id,
      recipe.project_id,
      recipe.name,
      recipe.transform_chain,
      recipe.schema_version,
      recipe.owner_uid ?? null,
      recipe.owner_namespace ?? null,
      recipe.owner_name ?? null,
    ],
  );
  if (written === undefined) return undefined;
  const { was_inserted, ...row } = written;
  return { row, outcome: was_inserted ? 'created' : 'replaced' };
}

export async function findRecipe(
  db: Queryable,
  { project_id, recipe_id }: RecipeOfProject,
): Promise<RecipeRow | undefined> {
  const rows = await db.query<RecipeRow>(
    'select * from recipes where project_id = $1 and recipe_id = $2',
    [project_id, recipe_id],
  );
  return rows[0];
}

/** Every recipe of a project, newest first. */
export async function listRecipes(db: Queryable, projectId: string): Promise<RecipeRow[]> {
  return db.query(
    'select * from recipes where project_id = $1 order by created_at desc, recipe_id desc',
    [projectId],
  );
}

export async function countRecipes(db: Queryable, projectId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'select count(*) from recipes where project_id = $1',
    [projectId],
  );
  return onlyRow(row).count;
}

export async function deleteRecipe(
  db: Queryable,
  { project_id, recipe_id }: RecipeOfProject,
): Promise<boolean> {
  const rows = await db.query(
    'delete from recipes where project_id = $1 and recipe_id = $2 returning recipe_id',
    [project_id, recipe_id],
  );
  return rows.length > 0;
}
