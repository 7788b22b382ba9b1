import { describe, expect, it } from 'vitest';
import { putRecipeBody } from '../../../../runtime/core/resources/recipe.ts';

describe('putRecipeBody', () => {
  it('accepts only a valid chain and schema_version 1, and trims the name', () => {
    const recipe = { name: ' hero ', transform_chain: 'resize/1600x/format/webp' };
    expect(putRecipeBody.parse(recipe)).toEqual({ ...recipe, name: 'hero', schema_version: 1 });
    expect(putRecipeBody.safeParse({ ...recipe, schema_version: 2 }).success).toBe(false);
    expect(putRecipeBody.safeParse({ ...recipe, transform_chain: 'spin/90' }).success).toBe(false);
  });
});
