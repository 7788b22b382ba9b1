/**
 * Creates, replaces and deletes a project's recipes, with the audit entry in the same transaction. A recipe is written
 * only if its chain can be delivered: a preset that it names must belong to the project. Nothing is purged, because no
 * URL names a recipe. Spec: Recipes.
 */
import { ServiceError } from '../core/errors.ts';
import { refuseWrongInput } from '../core/input-issue.ts';
import { RECIPES_MAX } from '../core/limits.ts';
import { type PutRecipe, presetIssues } from '../core/resources/recipe.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Database, Transaction } from '../db/client.ts';
import { lockProject } from '../db/projects.ts';
import {
  countRecipes,
  deleteRecipe as deleteRecipeRow,
  findRecipe,
  type RecipeRow,
  upsertRecipe,
} from '../db/recipes.ts';
import { translateViolations } from './translate-violations.ts';

type RecipeOfProject = { project_id: string; recipe_id: string };

/** `guard` throws if the current recipe is not the one that the caller means to replace. */
export type RecipeChange = RecipeOfProject & {
  input: PutRecipe;
  actor: Actor;
  guard?: (before: RecipeRow | undefined) => void;
};
type WrittenRecipe = { row: RecipeRow; outcome: 'created' | 'replaced' };

export async function putRecipe(db: Database, change: RecipeChange): Promise<WrittenRecipe> {
  return translateViolations(
    db.transaction((tx) => put(tx, change)),
    { recipes_name_taken: 'recipe_name_taken' },
  );
}

async function put(tx: Transaction, { input, actor, guard, ...recipe }: RecipeChange) {
  const { project_id, recipe_id: target } = recipe;
  // Locked, so that the audit entry names the row that is replaced and the presets are current.
  const project = await lockProject(tx, project_id);
  refuseWrongInput(presetIssues(input.transform_chain, project));
  const before = await findRecipe(tx, recipe);
  if (before === undefined) await requireRoom(tx, project_id);
  guard?.(before);
  const written = await upsertRecipe(tx, { ...recipe, ...input });
  // The id belongs to another project, which is not revealed.
  if (written === undefined) throw new ServiceError('not_found');
  await insertAuditEntry(tx, {
    project_id,
    ...actor,
    action: before ? 'recipe.replace' : 'recipe.create',
    target,
    before: before && settingsOf(before),
    after: settingsOf(written.row),
  });
  return written;
}

/** Deleting a missing recipe leaves no trace. */
export async function deleteRecipe(
  db: Database,
  { actor, ...recipe }: RecipeOfProject & { actor: Actor },
): Promise<void> {
  await db.transaction(async (tx) => {
    const { project_id, recipe_id: target } = recipe;
    await lockProject(tx, project_id);
    const row = await findRecipe(tx, recipe);
    if (row === undefined) return;
    await deleteRecipeRow(tx, recipe);
    const entry = { action: 'recipe.delete', target, before: settingsOf(row) };
    await insertAuditEntry(tx, { project_id, ...actor, ...entry });
  });
}

async function requireRoom(tx: Transaction, projectId: string): Promise<void> {
  if ((await countRecipes(tx, projectId)) >= RECIPES_MAX)
    throw new ServiceError('recipe_quota_exceeded');
}

function settingsOf({ name, transform_chain, schema_version }: RecipeRow) {
  return { name, transform_chain, schema_version };
}
