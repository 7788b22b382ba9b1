import { describe, expect, it } from 'vitest';
import { putWatermarkPresetBody } from '../../../../runtime/core/resources/watermark-preset.ts';

describe('putWatermarkPresetBody', () => {
  const preset = { name: 'logo', file_slug: 'logo.png' };

  it('fills in offsets of 0 and full opacity', () => {
    expect(putWatermarkPresetBody.parse(preset)).toEqual({
      ...preset,
      x_offset: 0,
      y_offset: 0,
      opacity: 100,
    });
  });

  it.each([
    [1.5, 2],
    [1.49, 1],
    [-1.5, -1],
    [-1.51, -2],
    [-0.4, 0],
  ])('rounds an offset of %d half up to %d', (sent, stored) => {
    expect(putWatermarkPresetBody.parse({ ...preset, x_offset: sent }).x_offset + 0).toBe(stored);
  });

  it.each([
    { opacity: -1 },
    { opacity: 101 },
    { x_offset: '1' },
    { y_offset: 1e9 },
    { name: ' ' },
    { name: 'a\nb' },
  ])('rejects %j', (wrong) =>
    expect(putWatermarkPresetBody.safeParse({ ...preset, ...wrong }).success).toBe(false),
  );
});
