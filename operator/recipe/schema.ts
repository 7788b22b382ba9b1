/** The Recipe resource: a stored name for a transform chain. Spec: Recipe. */
import { z } from 'zod';
import { NAME_LENGTH_MAX } from '../../runtime/core/limits.ts';
import { displayName, group, integer, projectRef, transformChain } from '../fields.ts';
import { allocated, statusFields } from '../status-fields.ts';

export const recipeSpec = group('the fields of a Recipe', {
  projectRef,
  displayName: displayName
    .describe(
      `The name of the recipe, unique in its project; default the name of the resource, if that has at most ${NAME_LENGTH_MAX} characters.`,
    )
    .optional(),
  transformChain: transformChain.describe('The transform chain that the name stands for.'),
  schemaVersion: integer('1', { min: 1, max: 1 })
    .describe(
      'The version of the grammar that the chain is written in: 1, the default, is the only one.',
    )
    .default(1),
});

export type RecipeSpec = z.infer<typeof recipeSpec>;

export const recipeStatus = z.object({
  ...statusFields,
  recipeID: allocated('The id of the recipe, as the API uses it.'),
});
