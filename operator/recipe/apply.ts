/** Writes the decided changes of a recipe in one transaction. */
import { newId } from '../../runtime/core/ids.ts';
import type { Transaction } from '../../runtime/db/client.ts';
import { exchangeNames } from '../../runtime/db/declared-names.ts';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import { deleteRecipe, upsertRecipe } from '../../runtime/db/recipes.ts';
import { ownerColumns } from '../claim.ts';
import { type ApplyContext, presentProject } from '../reconcile.ts';
import type { RecipeChange } from './decide.ts';
import type { RecipeSpec } from './schema.ts';

export async function applyRecipe(
  tx: Transaction,
  changes: readonly RecipeChange[],
  context: ApplyContext<RecipeSpec>,
): Promise<ProjectRow> {
  const project = presentProject(context.project);
  for (const change of changes) await write(tx, change, { ...context, project });
  return project;
}

async function write(
  tx: Transaction,
  change: RecipeChange,
  { project, subject, clock }: ApplyContext<RecipeSpec> & { project: ProjectRow },
): Promise<void> {
  const { project_id } = project;
  if (change.change === 'make-way') {
    await exchangeNames(tx, 'recipes', change);
    return;
  }
  if (change.change === 'delete') {
    await deleteRecipe(tx, { project_id, recipe_id: change.recipe_id });
    return;
  }
  const owner = ownerColumns(subject.identity);
  const recipe_id =
    change.change === 'update' ? change.recipe_id : newId('rcp', clock.now().getTime());
  await upsertRecipe(tx, { recipe_id, project_id, ...change.fields, ...owner });
}
