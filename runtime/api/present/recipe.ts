/** A recipe's row as the API answers it. Spec: Recipe. */
import { readChain } from '../../core/delivery/chain.ts';
import { RECIPE_SCHEMA_VERSION } from '../../core/limits.ts';
import type { RecipeRecord } from '../../core/resources/recipe.ts';
import type { ProjectRow } from '../../db/projects.ts';
import type { RecipeRow } from '../../db/recipes.ts';

/** `valid` changes when presets of the project are added or removed. */
export const recipeVolatileFields = ['valid'];

export function presentRecipe(
  row: RecipeRow,
  { resolution_presets }: Pick<ProjectRow, 'resolution_presets'>,
): RecipeRecord {
  return {
    id: row.recipe_id,
    name: row.name,
    transform_chain: row.transform_chain,
    schema_version: RECIPE_SCHEMA_VERSION,
    valid: readChain(row.transform_chain, resolution_presets) !== undefined,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
