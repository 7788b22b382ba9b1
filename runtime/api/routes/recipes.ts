/** Spec: Endpoints, Recipes. */
import { deleteRecipe, putRecipe, type RecipeChange } from '../../actions/change-recipe.ts';
import { ServiceError } from '../../core/errors.ts';
import { isId, newId } from '../../core/ids.ts';
import type { InputIssue } from '../../core/input-issue.ts';
import { type PutRecipe, presetIssues, putRecipeBody } from '../../core/resources/recipe.ts';
import type { ProjectRow } from '../../db/projects.ts';
import { findRecipe, listRecipes } from '../../db/recipes.ts';
import { auditActor } from '../audit-actor.ts';
import { type ProjectCall, projectEndpoint, withStatus } from '../endpoint.ts';
import { entityTag, requireMatch } from '../entity-tag.ts';
import { newIdIssues } from '../new-id.ts';
import { presentRecipe, recipeVolatileFields } from '../present/recipe.ts';

export const listProjectRecipes = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/recipes',
  auth: ['dash', 'key:recipes:read'],
  ok: 200,
  handle: async ({ deps, project }) => {
    const rows = await listRecipes(deps.db, project.project_id);
    return { items: rows.map((row) => presentRecipe(row, project)), next_cursor: null };
  },
});

export const createRecipe = projectEndpoint({
  method: 'PUT',
  path: '/v1/projects/{slug}/recipes',
  auth: ['dash', 'key:recipes:write'],
  ok: 201,
  moving: recipeVolatileFields,
  errors: ['recipe_name_taken', 'recipe_quota_exceeded'],
  body: putRecipeBody,
  misfits: ({ body, project }) => presetMisfits(body, project),
  handle: async (call) => {
    const id = newId('rcp', call.deps.clock.now().getTime());
    const { row } = await putRecipe(call.deps.db, changeOf(call, id));
    return presentRecipe(row, call.project);
  },
});

export const getRecipe = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/recipes/{id}',
  auth: ['dash', 'key:recipes:read'],
  ok: 200,
  moving: recipeVolatileFields,
  errors: ['not_found'],
  handle: async ({ deps, project, params }) => {
    const recipe_id = params['id'] ?? '';
    const { project_id } = project;
    const row = isId('rcp', recipe_id) && (await findRecipe(deps.db, { project_id, recipe_id }));
    if (!row) throw new ServiceError('not_found');
    return presentRecipe(row, project);
  },
});

export const replaceRecipe = projectEndpoint({
  method: 'PUT',
  path: '/v1/projects/{slug}/recipes/{id}',
  auth: ['dash', 'key:recipes:write'],
  ok: 200,
  moving: recipeVolatileFields,
  errors: ['recipe_name_taken', 'recipe_quota_exceeded'],
  body: putRecipeBody,
  misfits: ({ params, body, project }) => [
    ...newIdIssues('rcp', params['id']),
    ...presetMisfits(body, project),
  ],
  handle: async (call) => {
    const id = call.params['id'] ?? '';
    const { row, outcome } = await putRecipe(call.deps.db, changeOf(call, id));
    return withStatus(outcome === 'created' ? 201 : 200, presentRecipe(row, call.project));
  },
});

/** Answers 204 for an unknown id too, where a watermark preset answers 404. */
export const deleteProjectRecipe = projectEndpoint({
  method: 'DELETE',
  path: '/v1/projects/{slug}/recipes/{id}',
  auth: ['dash', 'key:recipes:write'],
  ok: 204,
  handle: async ({ deps, principal, project: { project_id }, params, request_id }) => {
    const recipe_id = params['id'] ?? '';
    const actor = auditActor({ principal, request_id });
    if (isId('rcp', recipe_id)) await deleteRecipe(deps.db, { project_id, recipe_id, actor });
  },
});

/** The preset issues of a chain that is itself valid; checked again under the project's lock. */
function presetMisfits(body: unknown, project: ProjectRow): InputIssue[] {
  const { data } = putRecipeBody.pick({ transform_chain: true }).strip().safeParse(body);
  return data === undefined ? [] : presetIssues(data.transform_chain, project);
}

function changeOf(
  { principal, project, body, request_id, if_match }: ProjectCall<PutRecipe, undefined>,
  recipe_id: string,
): RecipeChange {
  const { project_id } = project;
  const actor = auditActor({ principal, request_id });
  const guard: RecipeChange['guard'] = (before) =>
    requireMatch(
      if_match,
      before && entityTag(presentRecipe(before, project), recipeVolatileFields),
    );
  return { project_id, recipe_id, input: body, actor, guard };
}
