import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChain } from '../../../../runtime/core/delivery/chain.ts';
import {
  chooseWatermark,
  placeWatermark,
  type WatermarkFacts,
  type WatermarkPlan,
} from '../../../../runtime/core/delivery/watermark.ts';

const facts: WatermarkFacts = {
  object_key: 'prj_1/file_1/1-abc',
  width: 100,
  height: 50,
  x_offset: 0,
  y_offset: 0,
  opacity: 80,
  revision_tag: 'file_1:1',
};
const output = { width: 640, height: 480 };

describe('chooseWatermark', () => {
  const presets = new Map([
    ['wm_a', 'A'],
    ['wm_b', 'B'],
  ]);

  const choices: [string, string | null, string | null, string][] = [
    ['resize/1x1', 'wm_a', 'A', 'the default applies without a watermark operation'],
    ['watermark', 'wm_a', 'A', 'the bare operation means the default'],
    ['watermark:wm_b', 'wm_a', 'B', 'a named preset is used instead'],
    ['watermark:wm_b', null, 'B', 'a named preset needs no default'],
    ['watermark:wm_x', 'wm_a', 'A', 'an unknown id falls back to the default'],
    ['watermark:wm_x', null, null, 'an unknown id without a default draws nothing'],
    ['watermark', null, null, 'the bare operation without a default draws nothing'],
    ['resize/1x1', null, null, 'nothing asked for, nothing set'],
    ['resize/1x1', 'wm_x', null, 'a default that is gone draws nothing'],
  ];

  it.each(choices)(
    'for %s with default %s chooses %s: %s',
    (text, default_watermark_preset_id, preset) => {
      const chain = parseChain(text) ?? {};
      expect(chooseWatermark(chain, { presets, default_watermark_preset_id })).toBe(preset);
    },
  );
});

describe('placeWatermark', () => {
  const places: [Partial<WatermarkFacts>, Partial<WatermarkPlan>, string][] = [
    [{}, { x: 0, y: 0, width: 100, height: 50 }, 'top left at its own size'],
    [{ x_offset: 16, y_offset: 20 }, { x: 16, y: 20 }, 'offsets from the top left'],
    [{ x_offset: -16, y_offset: -20 }, { x: 524, y: 410 }, 'negative from right and bottom'],
    [{ x_offset: 600, y_offset: 479 }, { x: 540, y: 430 }, 'moved wholly inside'],
    [{ x_offset: -9999, y_offset: -9999 }, { x: 0, y: 0 }, 'moved wholly inside'],
    [{ width: 1280, height: 640 }, { width: 640, height: 320 }, 'shrunk to fit the width'],
    [{ width: 100, height: 960 }, { width: 50, height: 480 }, 'shrunk to fit the height'],
    [{ width: 9999, height: 1 }, { width: 640, height: 1 }, 'never without a pixel'],
  ];

  it.each(places)('places %o at %o: %s', (change, placed) => {
    expect(placeWatermark({ ...facts, ...change }, output)).toMatchObject(placed);
  });

  it('draws nothing without a preset or at opacity 0', () => {
    expect(placeWatermark(null, output)).toBeNull();
    expect(placeWatermark({ ...facts, opacity: 0 }, output)).toBeNull();
  });

  it('keeps the watermark inside any output and never enlarges it', () => {
    const side = fc.integer({ min: 1, max: 8192 });
    const offset = fc.integer({ min: -10_000, max: 10_000 });
    const property = fc.property(side, side, side, side, offset, offset, (...numbers) => {
      const [width, height, ow, oh, x_offset, y_offset] = numbers;
      const placed = placeWatermark(
        { ...facts, width, height, x_offset, y_offset },
        { width: ow, height: oh },
      );
      expect(placed).not.toBeNull();
      if (placed === null) return;
      expect(Math.min(placed.x, placed.y)).toBeGreaterThanOrEqual(0);
      expect(placed.x + placed.width).toBeLessThanOrEqual(ow);
      expect(placed.y + placed.height).toBeLessThanOrEqual(oh);
      expect(placed.width).toBeLessThanOrEqual(width);
      expect(placed.height).toBeLessThanOrEqual(height);
      expect(Math.min(placed.width, placed.height)).toBeGreaterThanOrEqual(1);
    });
    fc.assert(property);
  });
});
