/** A stored name for a transform chain. Spec: Recipe; Recipes. */
import { z } from 'zod';
import { RECIPE_SCHEMA_VERSION } from '../limits.ts';
import { transformChain } from './chain.ts';
import { nameText, requestBody, times } from './wire.ts';

/** `valid` is false where a stored chain no longer parses. */
export const recipeRecord = z.object({
  id: z.string(),
  name: z.string(),
  transform_chain: z.string(),
  schema_version: z.literal(RECIPE_SCHEMA_VERSION),
  valid: z.boolean(),
  ...times,
});

/** A recipe on the wire. */
export type RecipeRecord = z.infer<typeof recipeRecord>;

/** Create or replace. */
export const putRecipeBody = requestBody({
  name: nameText(),
  transform_chain: transformChain,
  schema_version: z
    .literal(RECIPE_SCHEMA_VERSION, { error: `expected the number ${RECIPE_SCHEMA_VERSION}` })
    .default(RECIPE_SCHEMA_VERSION),
});

/** What a PUT asks for. */
export type PutRecipe = z.infer<typeof putRecipeBody>;
