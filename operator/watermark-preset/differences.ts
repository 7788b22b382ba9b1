/** What a watermark preset's changes do to its row, computed before they are made. Spec: Watermark preset. */
import type { DeclaredWatermarkPresetRow } from '../../runtime/db/declared-rows.ts';
import { ownerColumns } from '../claim.ts';
import type { Subject } from '../declared.ts';
import { renameDifferences } from '../names.ts';
import { deletedFields, fieldsOf, type RowDifference } from '../row-difference.ts';
import type { WatermarkPresetChange } from './decide.ts';
import type { WatermarkPresetRows } from './gather.ts';
import type { WatermarkPresetSpec } from './schema.ts';

const table = 'watermark_presets';

export function watermarkPresetDifferences(
  change: WatermarkPresetChange,
  { identity }: Subject<WatermarkPresetSpec>,
  { preset }: WatermarkPresetRows,
): RowDifference[] {
  const row = preset?.name ?? identity.name;
  switch (change.change) {
    case 'make-way':
      return renameDifferences(table, change);
    case 'create': {
      const fields = fieldsOf({ ...change.fields, ...ownerColumns(identity) });
      return [{ action: 'insert', table, row: change.fields.name, fields }];
    }
    case 'update': {
      const wanted = { ...change.fields, ...ownerColumns(identity) };
      return [{ action: 'update', table, row, fields: fieldsOf(wanted, preset) }];
    }
    case 'delete': {
      const settings = preset === undefined ? {} : settingsOf(preset);
      return [{ action: 'delete', table, row, fields: deletedFields(settings) }];
    }
  }
}

function settingsOf({ name, file_id, x_offset, y_offset, opacity }: DeclaredWatermarkPresetRow) {
  return { name, file_id, x_offset, y_offset, opacity };
}
