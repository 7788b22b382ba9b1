/** What a recipe's changes do to its row, computed before they are made. Spec: Recipe. */
import type { DeclaredRecipeRow } from '../../runtime/db/declared-rows.ts';
import { ownerColumns } from '../claim.ts';
import type { Subject } from '../declared.ts';
import { renameDifferences } from '../names.ts';
import { deletedFields, fieldsOf, type RowDifference } from '../row-difference.ts';
import type { RecipeChange } from './decide.ts';
import type { RecipeRows } from './gather.ts';
import type { RecipeSpec } from './schema.ts';

const table = 'recipes';

export function recipeDifferences(
  change: RecipeChange,
  { identity }: Subject<RecipeSpec>,
  { recipe }: RecipeRows,
): RowDifference[] {
  const row = recipe?.name ?? identity.name;
  switch (change.change) {
    case 'make-way':
      return renameDifferences(table, change);
    case 'create': {
      const fields = fieldsOf({ ...change.fields, ...ownerColumns(identity) });
      return [{ action: 'insert', table, row: change.fields.name, fields }];
    }
    case 'update': {
      const fields = fieldsOf({ ...change.fields, ...ownerColumns(identity) }, recipe);
      return [{ action: 'update', table, row, fields }];
    }
    case 'delete': {
      const settings = recipe === undefined ? {} : settingsOf(recipe);
      return [{ action: 'delete', table, row, fields: deletedFields(settings) }];
    }
  }
}

function settingsOf({ name, transform_chain, schema_version }: DeclaredRecipeRow) {
  return { name, transform_chain, schema_version };
}
