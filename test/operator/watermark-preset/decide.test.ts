import { describe, expect, it } from 'vitest';
import { decideWatermarkPreset } from '../../../operator/watermark-preset/decide.ts';
import { gone, identity, presetRow, presetRows, watermarkPreset } from '../samples.ts';

const fields = { name: 'shop', file_id: 'file_1', x_offset: 0, y_offset: 0, opacity: 100 };

describe('a WatermarkPreset', () => {
  it('is created once its file is ready', () => {
    const waiting = presetRows({ preset: undefined, file: undefined });
    expect(decideWatermarkPreset(watermarkPreset(), waiting).changes).toEqual([]);
    const there = presetRows({ preset: undefined });
    expect(decideWatermarkPreset(watermarkPreset(), there).changes).toEqual([
      { change: 'create', project_id: 'prj_1', fields },
    ]);
  });

  it('that is as declared is left alone', () => {
    expect(decideWatermarkPreset(watermarkPreset(), presetRows()).changes).toEqual([]);
  });

  it.each([
    { spec: { xOffset: -16 }, changed: { x_offset: -16 }, isPurging: true },
    { spec: { yOffset: 8 }, changed: { y_offset: 8 }, isPurging: true },
    { spec: { opacityPercent: 50 }, changed: { opacity: 50 }, isPurging: true },
    { spec: { displayName: 'Logo' }, changed: { name: 'Logo' }, isPurging: false },
  ])('is written when changed to $spec; purged: $isPurging', ({ spec, changed, isPurging }) => {
    expect(decideWatermarkPreset(watermarkPreset(spec), presetRows()).changes).toEqual([
      { change: 'update', preset: presetRow(), fields: { ...fields, ...changed }, isPurging },
    ]);
  });

  it('is refused if its metadata.name is too long to stand for displayName and fileSlug', () => {
    const image = { configMapRef: { name: 'logo', key: 'logo.png' } };
    const long = {
      ...watermarkPreset({ image, fileSlug: undefined }),
      identity: identity('WatermarkPreset', 'w'.repeat(150)),
    };
    const { changes, conditions } = decideWatermarkPreset(long, presetRows({ preset: undefined }));
    expect(changes).toEqual([]);
    expect(conditions[0]).toMatchObject({
      reason: 'SpecInvalid',
      message:
        '`spec.displayName`: set where `metadata.name`, which stands for it, has more than 120 characters; `spec.fileSlug`: set where `metadata.name`, which stands for it, has more than 128 characters',
    });
  });

  it('follows its fileSlug to the file that has it now', () => {
    const rows = presetRows({ file: { file_id: 'file_2', status: 'ready' } });
    expect(decideWatermarkPreset(watermarkPreset(), rows).changes).toEqual([
      {
        change: 'update',
        preset: presetRow(),
        fields: { ...fields, file_id: 'file_2' },
        isPurging: true,
      },
    ]);
  });

  it('takes over the row that its namesake left, and purges nothing that looks the same', () => {
    const left = presetRow({ owner_uid: 'uid-before' });
    const decision = decideWatermarkPreset(watermarkPreset(), presetRows({ preset: left }));
    expect(decision.changes).toEqual([
      { change: 'update', preset: left, fields, isPurging: false },
    ]);
  });

  it('of a blocked file is reported and not created again', () => {
    const rows = presetRows({ preset: undefined, file: { file_id: 'file_1', status: 'blocked' } });
    const decision = decideWatermarkPreset(watermarkPreset(), rows);
    expect(decision.changes).toEqual([]);
    expect(decision.conditions[0]?.reason).toBe('FileBlocked');
  });

  it.each([
    { name: 'is deleted', row: {}, changes: 1, reason: 'Deleted' },
    {
      name: 'waits while it is the default',
      row: { is_default: true },
      changes: 0,
      reason: 'InUseAsDefault',
    },
    {
      name: 'stays if it is the default of a project that is no longer declared',
      row: { is_default: true, is_project_owned: false },
      changes: 0,
      reason: 'Retained',
    },
  ])('whose resource is gone $name', ({ row, changes, reason }) => {
    const rows = presetRows({ preset: presetRow(row) });
    const decision = decideWatermarkPreset(gone('WatermarkPreset'), rows);
    expect(decision.changes).toHaveLength(changes);
    expect(decision.conditions[0]?.reason).toBe(reason);
  });
});
