import { describe, expect, it } from 'vitest';
import { decideRecipe } from '../../../operator/recipe/decide.ts';
import { gone, identity, recipe, recipeRow, recipeRows, somebody } from '../samples.ts';

const fields = { name: 'shop', transform_chain: 'quality/80', schema_version: 1 };

describe('a Recipe', () => {
  it.each([
    { name: 'is not changed if it is as declared', spec: {}, rows: recipeRows(), changes: [] },
    {
      name: 'takes over the row that its namesake left',
      spec: {},
      rows: recipeRows({ recipe: recipeRow({ owner_uid: 'uid-before' }) }),
      changes: [expect.objectContaining({ change: 'update', recipe_id: 'rcp_1' })],
    },
    {
      name: 'is created if it does not exist',
      spec: {},
      rows: recipeRows({ recipe: undefined }),
      changes: [{ change: 'create', project_id: 'prj_1', fields }],
    },
    {
      name: 'is updated if it differs',
      spec: { displayName: 'Card', transformChain: 'quality/70' },
      rows: recipeRows(),
      changes: [
        {
          change: 'update',
          recipe_id: 'rcp_1',
          fields: { ...fields, name: 'Card', transform_chain: 'quality/70' },
        },
      ],
    },
    {
      name: 'is refused if another recipe has its name',
      spec: {},
      rows: recipeRows({
        recipe: undefined,
        naming: { holder: { id: 'rcp_2', name: 'shop', ...somebody } },
      }),
      changes: [],
    },
  ])('$name', ({ spec, rows, changes }) => {
    expect(decideRecipe(recipe(spec), rows).changes).toEqual(changes);
  });

  it.each([
    ['the project has none', {}, 'the project has none'],
    ['the project has another one', { hero: 'quality/70' }, 'those are hero'],
  ])('reports a chain whose preset does not exist as unusable: %s', (_, presets, known) => {
    const project = { project_id: 'prj_1', resolution_presets: presets };
    const spec = { transformChain: 'preset:nope' };
    const { conditions } = decideRecipe(recipe(spec), recipeRows({ project }));
    expect(conditions[0]).toMatchObject({
      reason: 'InSync',
      message: `the recipe is as declared, and cannot be used: in 'preset:nope' expected a preset of the project that repeats no operation of the chain: ${known}`,
    });
    const found = { ...project, resolution_presets: { nope: 'quality/70' } };
    expect(decideRecipe(recipe(spec), recipeRows({ project: found })).conditions[0]).toMatchObject({
      message: 'the recipe is as declared',
    });
  });

  it('whose resource is gone is deleted, and after that nothing is left to do', () => {
    expect(decideRecipe(gone('Recipe'), recipeRows()).changes).toEqual([
      { change: 'delete', recipe_id: 'rcp_1' },
    ]);
    expect(decideRecipe(gone('Recipe'), recipeRows({ recipe: undefined })).changes).toEqual([]);
  });

  it('is refused if its metadata.name is too long to stand for displayName', () => {
    const long = { ...recipe(), identity: identity('Recipe', 'r'.repeat(200)) };
    const { changes, conditions } = decideRecipe(long, recipeRows({ recipe: undefined }));
    expect(changes).toEqual([]);
    expect(conditions[0]).toMatchObject({
      reason: 'SpecInvalid',
      message:
        '`spec.displayName`: set where `metadata.name`, which stands for it, has more than 120 characters',
    });
    const named = { ...long, spec: { ...long.spec, displayName: 'Card' } };
    expect(decideRecipe(named, recipeRows({ recipe: undefined })).changes).toHaveLength(1);
  });
});
