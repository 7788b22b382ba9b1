/** One pass over a Recipe resource. */
import { reconciler } from '../reconcile.ts';
import { applyRecipe } from './apply.ts';
import { decideRecipe } from './decide.ts';
import { recipeDifferences } from './differences.ts';
import { gatherRecipe } from './gather.ts';
import { recipeSpec } from './schema.ts';

export const reconcileRecipe = reconciler({
  spec: recipeSpec,
  gather: gatherRecipe,
  decide: decideRecipe,
  differences: recipeDifferences,
  apply: applyRecipe,
});
