/**
 * Puts and deletes a project's recipes, with the audit entry in the same transaction. A recipe is written only while
 * its chain can be delivered: a preset that it names must be one of the project's. Nothing is purged, as no URL names
 * a recipe. Spec: Recipes.
 */
import { ServiceError } from '../core/errors.ts';
import { refuseWrongInput } from '../core/input-issue.ts';
import { RECIPES_MAX } from '../core/limits.ts';
import { type PutRecipe, presetIssues } from '../core/resources/recipe.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Database, Transaction } from '../db/client.ts';
import { ConstraintViolation } from '../db/failures.ts';
import { lockProject, type ProjectRow } from '../db/projects.ts';
import {
  countRecipes,
  deleteRecipe as deleteRecipeRow,
  findRecipe,
  type RecipeRow,
  upsertRecipe,
} from '../db/recipes.ts';

type RecipeOfProject = { project_id: string; recipe_id: string };

/** `guard` throws where what is there is not what the caller means to replace. */
export type RecipeChange = RecipeOfProject & {
  wish: PutRecipe;
  actor: Actor;
  guard?: (before: RecipeRow | undefined) => void;
};
type WrittenRecipe = { row: RecipeRow; outcome: 'created' | 'replaced' };

export async function putRecipe(db: Database, change: RecipeChange): Promise<WrittenRecipe> {
  try {
    return await db.transaction((tx) => put(tx, change));
  } catch (error) {
    const isTaken =
      error instanceof ConstraintViolation && error.constraint === 'recipes_name_taken';
    throw isTaken ? new ServiceError('recipe_name_taken', { cause: error }) : error;
  }
}

async function put(tx: Transaction, { wish, actor, guard, ...recipe }: RecipeChange) {
  const { project_id, recipe_id: target } = recipe;
  // Locked, so that what is replaced is what the entry says, and the presets are those of now.
  const project = await lockProject(tx, project_id);
  requireKnownPreset(wish.transform_chain, project);
  const before = await findRecipe(tx, recipe);
  if (before === undefined) await requireRoom(tx, project_id);
  guard?.(before);
  const written = await upsertRecipe(tx, { ...recipe, ...wish });
  // The id is another project's, of which nothing is told.
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

/** One that is not there leaves no trace. */
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

function requireKnownPreset(chain: string, project: ProjectRow | undefined): void {
  refuseWrongInput(presetIssues(chain, project));
}

function settingsOf({ name, transform_chain, schema_version }: RecipeRow) {
  return { name, transform_chain, schema_version };
}
