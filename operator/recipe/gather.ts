/** What has to be read to judge a Recipe resource. */
import type { Queryable } from '../../runtime/db/client.ts';
import {
  type DeclaredRecipeRow,
  findDeclaredRecipe,
  isNameTaken,
} from '../../runtime/db/declared-rows.ts';
import type { Subject } from '../declared.ts';
import type { Scope } from '../reconcile.ts';
import { findReferredProject } from '../referred-project.ts';
import type { RecipeSpec } from './schema.ts';

export type RecipeRows = {
  project: { project_id: string } | undefined;
  /** The row that the resource owns. */
  recipe: DeclaredRecipeRow | undefined;
  /** Another row of the project has the name. */
  hasNamesake: boolean;
};

export async function gatherRecipe(
  db: Queryable,
  { identity, spec }: Subject<RecipeSpec>,
  scope: Scope,
): Promise<RecipeRows> {
  const owner_uid = identity.uid;
  const recipe = await findDeclaredRecipe(db, { owner_uid });
  if (spec === undefined) return { project: recipe, recipe, hasNamesake: false };
  const project = await findReferredProject(db, spec, scope);
  if (project === undefined) return { project, recipe, hasNamesake: false };
  const wish = { ...project, name: spec.displayName ?? identity.name, owner_uid };
  return { project, recipe, hasNamesake: await isNameTaken(db, 'recipes', wish) };
}
