/** What must change so that a recipe is as its resource declares. Pure. Spec: Recipe. */
import { RECIPES_MAX } from '../../runtime/core/limits.ts';
import { presetIssues } from '../../runtime/core/resources/recipe.ts';
import { changeNothing, conditionsFor } from '../conditions.ts';
import type { Subject } from '../declared.ts';
import { refuseDefaults } from '../default-names.ts';
import {
  declaredName,
  printHolder,
  printLimit,
  type RenameHolders,
  renameHolders,
} from '../names.ts';
import type { Decision } from '../reconcile.ts';
import type { RecipeRows } from './gather.ts';
import type { RecipeSpec } from './schema.ts';

export type RecipeFields = { name: string; transform_chain: string; schema_version: number };

export type RecipeChange =
  | RenameHolders
  | { change: 'create'; project_id: string; fields: RecipeFields }
  | { change: 'update'; recipe_id: string; fields: RecipeFields }
  | { change: 'delete'; recipe_id: string };

export function decideRecipe(
  subject: Subject<RecipeSpec>,
  rows: RecipeRows,
): Decision<RecipeChange> {
  if (subject.action === 'delete') return decideDeletion(rows);
  const { identity, spec } = subject;
  const { project, recipe, naming } = rows;
  const tooLong = refuseDefaults(identity, spec, ['displayName']);
  if (tooLong !== undefined) return changeNothing('SpecInvalid', tooLong);
  const fields: RecipeFields = {
    name: declaredName(identity, spec),
    transform_chain: spec.transformChain,
    schema_version: spec.schemaVersion,
  };
  if (project === undefined) {
    return changeNothing('ProjectNotFound', `there is no Project '${spec.projectRef.name}' yet`);
  }
  const { project_id } = project;
  if (recipe !== undefined && recipe.project_id !== project_id) {
    return changeNothing(
      'ProjectImmutable',
      'it was created in another project: set projectRef back, or declare a new Recipe instead',
    );
  }
  if (naming.holder !== undefined) {
    const whose = printHolder(naming.holder, 'Recipe');
    const message = `the project already has a recipe '${fields.name}'${whose}: set displayName to another name`;
    return changeNothing('NameConflict', message);
  }
  if (recipe === undefined && rows.is_full)
    return changeNothing('LimitReached', printLimit('recipes', RECIPES_MAX));
  const conditions = conditionsFor('InSync', describeDeclared(spec, project));
  const first = renameHolders(naming.renamings, recipe?.recipe_id);
  if (recipe === undefined)
    return { changes: [...first, { change: 'create', project_id, fields }], conditions };
  const isSame =
    recipe.owner_uid === identity.uid &&
    recipe.name === fields.name &&
    recipe.transform_chain === fields.transform_chain &&
    recipe.schema_version === fields.schema_version;
  if (isSame) return { changes: [], conditions };
  const { recipe_id } = recipe;
  return { changes: [...first, { change: 'update', recipe_id, fields }], conditions };
}

/** The chain may exist before the preset that it names; until then nobody can use it. */
function describeDeclared(
  { transformChain }: RecipeSpec,
  project: NonNullable<RecipeRows['project']>,
): string {
  const [wrong] = presetIssues(transformChain, project);
  if (wrong === undefined) return 'the recipe is as declared';
  return `the recipe is as declared, and cannot be used: in '${transformChain}' ${wrong.message}`;
}

function decideDeletion({ recipe }: RecipeRows): Decision<RecipeChange> {
  const conditions = conditionsFor('Deleted', 'the recipe is deleted');
  return recipe === undefined
    ? { changes: [], conditions }
    : { changes: [{ change: 'delete', recipe_id: recipe.recipe_id }], conditions };
}
