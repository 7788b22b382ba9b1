/** Reads what is needed to judge a Recipe resource. */
import { RECIPES_MAX } from '../../runtime/core/limits.ts';
import type { Queryable } from '../../runtime/db/client.ts';
import {
  type DeclaredRecipeRow,
  findDeclaredRecipe,
  findNamesakeRecipe,
} from '../../runtime/db/declared-rows.ts';
import { countRecipes } from '../../runtime/db/recipes.ts';
import type { Subject } from '../declared.ts';
import { type NameResolution, resolveName } from '../names.ts';
import type { Scope } from '../reconcile.ts';
import { findReferredProject, type ReferredProject } from '../referred-project.ts';
import { type RecipeSpec, recipeSpec } from './schema.ts';

type ResolutionPresets = ReferredProject['resolution_presets'];

export type RecipeRows = {
  /** For a deleted resource, the project of its row, without presets. */
  project: { project_id: string; resolution_presets?: ResolutionPresets } | undefined;
  /**
   * The row that the resource owns; otherwise that of its predecessor of the same name, as when
   * everything was declared anew.
   */
  recipe: DeclaredRecipeRow | undefined;
  /** The way to the declared name. */
  naming: NameResolution;
  /** The project has no room for another recipe. */
  is_full: boolean;
};

export async function gatherRecipe(
  db: Queryable,
  { identity, spec }: Subject<RecipeSpec>,
  scope: Scope,
): Promise<RecipeRows> {
  const own = await findDeclaredRecipe(db, { owner_uid: identity.uid });
  const alone = { project: own, recipe: own, naming: { renamings: [] }, is_full: false };
  if (spec === undefined) return alone;
  const project = await findReferredProject(db, spec, scope);
  if (project === undefined) return { ...alone, project };
  const { project_id } = project;
  const { namespace: owner_namespace, name: owner_name } = identity;
  const namesake = { project_id, owner_namespace, owner_name };
  const recipe = own ?? (await findNamesakeRecipe(db, namesake));
  const owner = { ...identity, uid: recipe?.owner_uid ?? identity.uid };
  const desired = { identity: owner, spec, project_id };
  return {
    project,
    recipe,
    naming: await resolveName(db, { table: 'recipes', schema: recipeSpec, desired }, scope),
    is_full: recipe === undefined && (await countRecipes(db, project_id)) >= RECIPES_MAX,
  };
}
