/** Which rows are renamed to free a name, and to what, given what is known about the resource that holds it. */
import { afterEach, describe, expect, it } from 'vitest';
import { ownerColumns } from '../../operator/claim.ts';
import { resolveName } from '../../operator/names.ts';
import { recipeSpec } from '../../operator/recipe/schema.ts';
import type { Scope } from '../../operator/reconcile.ts';
import { watermarkPresetSpec } from '../../operator/watermark-preset/schema.ts';
import { updateProject } from '../../runtime/db/projects.ts';
import { upsertRecipe } from '../../runtime/db/recipes.ts';
import { upsertWatermarkPreset } from '../../runtime/db/watermark-presets.ts';
import { useDatabase } from '../support/database.ts';
import { id, makeFile, makeProject } from '../support/rows.ts';
import { identity } from './samples.ts';

const { db } = useDatabase();

// A resource owns only one row, and all cases use the same resources.
afterEach(() => db.query('delete from recipes'));

type Known = { uid: string; projectRef?: string; displayName?: string; isBeingDeleted?: true };

/** What is known about the resources of the namespace, by name. */
function scopeOf(known: Readonly<Record<string, Known>>): Scope {
  return {
    organization_id: 'org_1',
    delivery_root_domain: undefined,
    findUid: (_kind, name) => known[name]?.uid,
    findDeclared: (_kind, name) => {
      const found = known[name];
      if (found === undefined || found.isBeingDeleted) return undefined;
      const { uid, displayName, projectRef = 'shop' } = found;
      const spec = { projectRef: { name: projectRef }, displayName, transformChain: 'quality/80' };
      return { uid, spec };
    },
    isBeingDeleted: (kind, { name, uid }) =>
      kind === 'Recipe' && known[name]?.isBeingDeleted === true && known[name].uid === uid,
    isGone: () => true,
  };
}

/**
 * Takes rows of a project as `name: resource`. Returns the renamings that free the name Corner for
 * the resource `new`, or the holder that keeps it.
 */
async function wayTo(held: Record<string, string | null>, known: Record<string, Known>) {
  const { project_id } = await makeProject(db);
  const names = new Map<string, string>();
  for (const [name, owner_name] of Object.entries(held)) {
    const recipe_id = id('rcp');
    names.set(recipe_id, name);
    const row = { recipe_id, project_id, name, transform_chain: 'quality/80', schema_version: 1 };
    const owner = owner_name === null ? {} : ownerColumns(identity('Recipe', owner_name));
    await upsertRecipe(db, { ...row, ...owner });
  }
  const spec = { projectRef: { name: 'shop' }, displayName: 'Corner' };
  const desired = { identity: identity('Recipe', 'new'), spec, project_id };
  const way = await resolveName(
    db,
    { table: 'recipes', schema: recipeSpec, desired },
    scopeOf(known),
  );
  if (way.holder !== undefined) return { holder: way.holder.owner_name };
  return way.renamings.map(({ id: row, from, to }) => {
    expect(names.get(row)).toBe(from);
    return `${from} -> ${to === row ? '(its id)' : to}`;
  });
}

const long = 'n'.repeat(121);
const old = { uid: 'uid-old' };
const other = { uid: 'uid-other' };

describe('a name', () => {
  it.each([
    ['that nothing has', {}, {}, []],
    [
      'of a resource that is being deleted',
      { Corner: 'old' },
      { old: { ...old, isBeingDeleted: true } },
      ['Corner -> (its id)'],
    ],
    [
      'of a resource that is to get the name of one that is being deleted',
      { Corner: 'other', Edge: 'old' },
      { other: { ...other, displayName: 'Edge' }, old: { ...old, isBeingDeleted: true } },
      ['Corner -> Edge', 'Edge -> (its id)'],
    ],
    [
      'of a resource that is to get another name',
      { Corner: 'other' },
      { other: { ...other, displayName: 'Edge' } },
      ['Corner -> Edge'],
    ],
  ] as const)(
    '%s can be taken, once its holders are renamed where needed',
    async (_what, held, known, renamings) => {
      expect(await wayTo(held, known)).toEqual(renamings);
    },
  );

  it.each([
    ['is to keep it', { old: { ...old, displayName: 'Corner' } }, 'old'],
    ['is unknown: not declared, or deleted unseen', {}, 'old'],
    [
      'only has the resource name of one that is being deleted',
      { old: { uid: 'uid-later', isBeingDeleted: true } },
      'old',
    ],
    [
      'belongs to another project',
      { old: { ...old, displayName: 'Edge', projectRef: 'x' } },
      'old',
    ],
    ['is to get one that is too long', { [long]: { uid: `uid-${long}` } }, long],
    ['was not made by a resource', { old: { ...old, isBeingDeleted: true } }, null],
  ] as const)('cannot be taken if its holder %s', async (_what, known, holder) => {
    expect(await wayTo({ Corner: holder }, known)).toEqual({ holder });
  });
});

/** Whether a preset's name is free when its resource is gone, and how often that was checked. */
async function wayPastMissing(is_default: boolean, cluster: 'this' | 'another') {
  const { project_id } = await makeProject(db);
  const { file_id } = await makeFile(db, { project_id });
  const [watermark_preset_id, gone] = [id('wm'), identity('WatermarkPreset', id('wm'))];
  const drawn = { file_id, x_offset: 0, y_offset: 0, opacity: 100 };
  const preset = { watermark_preset_id, project_id, name: 'Corner', ...drawn };
  await db.transaction(async (tx) => {
    await upsertWatermarkPreset(tx, { ...preset, ...ownerColumns(gone) });
    const changes = { default_watermark_preset_id: is_default ? watermark_preset_id : null };
    await updateProject(tx, { project_id, changes });
  });
  if (cluster === 'another')
    await db.query('insert into owners_elsewhere (owner_uid) values ($1)', [gone.uid]);
  let asked = 0;
  const isGone = () => {
    asked += 1;
    return true;
  };
  const spec = { projectRef: { name: 'shop' }, displayName: 'Corner', fileSlug: 'a' };
  const desired = { identity: identity('WatermarkPreset', 'new'), spec, project_id };
  const kind = { table: 'watermark_presets', schema: watermarkPresetSpec } as const;
  const way = await resolveName(db, { ...kind, desired }, { ...scopeOf({}), isGone });
  return { isFree: way.holder === undefined, asked };
}

describe('the name of a preset whose resource disappeared unseen', () => {
  it.each([
    ['is free if the preset is the default watermark', true, 'this', { isFree: true, asked: 1 }],
    [
      'is not free if the preset is not the default, as the sweep releases it',
      false,
      'this',
      { isFree: false, asked: 0 },
    ],
    [
      'is not free if the preset is of another cluster, for which nothing is looked up',
      ...([true, 'another', { isFree: false, asked: 0 }] as const),
    ],
  ] as const)('%s', async (_what, is_default, cluster, found) => {
    expect(await wayPastMissing(is_default, cluster)).toEqual(found);
  });
});
