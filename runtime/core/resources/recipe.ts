/** A stored name for a transform chain. Spec: Recipe; Recipes. */
import { z } from 'zod';
import { readChain } from '../delivery/chain.ts';
import type { InputIssue } from '../input-issue.ts';
import { RECIPE_SCHEMA_VERSION } from '../limits.ts';
import { transformChain } from './chain.ts';
import { nameText, requestBody, times } from './wire.ts';

/** `valid` is false if a stored chain no longer parses. */
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

/** The requested recipe. */
export type PutRecipe = z.infer<typeof putRecipeBody>;

/** What is wrong with the preset that a chain names. */
export function presetIssues(
  chain: string,
  project: { resolution_presets?: Readonly<Record<string, string>> } | undefined,
): InputIssue[] {
  const presets = project?.resolution_presets ?? {};
  if (readChain(chain, presets) !== undefined) return [];
  const names = Object.keys(presets).toSorted();
  const known = names.length === 0 ? 'the project has none' : `those are ${names.join(', ')}`;
  const message = `expected a preset of the project that repeats no operation of the chain: ${known}`;
  return [{ path: 'transform_chain', message }];
}
