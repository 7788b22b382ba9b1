import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RenderPlan } from '../../../../runtime/core/delivery/plan.ts';
import {
  chooseSource,
  type Mezzanine,
  type RenderSource,
} from '../../../../runtime/core/delivery/render-source.ts';
import { drawing, mustPlan, photo, plan } from '../../../support/planned.ts';

const mezzanines = [mezzanine(2048, 1536), mezzanine(1024, 768), mezzanine(720, 544)];
/** The mezzanines of a file that was uploaded before the smallest size existed. */
const older = mezzanines.slice(0, 2);

function mezzanine(width: number, height: number): Mezzanine {
  const long_edge = Math.max(width, height);
  return { long_edge, width, height, object_key: `m${width}`, content_type: 'image/jpeg' };
}

/** The largest distance, in output pixels, of an edge of the image from where the plan has it. */
function offset({ window, output }: RenderPlan, chosen: RenderSource, from = photo): number {
  const { object, window: read, frame = { x: 0, y: 0, ...output } } = chosen;
  if (object === 'original') return 0;
  const edge = (at: number, side: 'x' | 'y') => {
    const size = side === 'x' ? 'width' : 'height';
    const exact = (at * object[size]) / from[size];
    return ((exact - read[side]) * frame[size]) / read[size] - frame[side];
  };
  return Math.max(
    Math.abs(edge(window.x, 'x')),
    Math.abs(edge(window.x + window.width, 'x') - output.width),
    Math.abs(edge(window.y, 'y')),
    Math.abs(edge(window.y + window.height, 'y') - output.height),
  );
}

describe('chooseSource', () => {
  const choices: [string, number | string, string][] = [
    ['resize/440x', 720, 'what is asked for most'],
    ['resize/450x', 720, 'exactly 1.6 times the output'],
    ['resize/451x338', 1024, 'the smallest one is below 1.6 times the output'],
    ['resize/640x480', 1024, 'exactly 1.6 times the output'],
    ['resize/641x481', 2048, 'the smaller ones are below 1.6 times the output'],
    ['resize/1280x960', 2048, 'exactly 1.6 times the output'],
    ['resize/1281x961', 'original', 'none is large enough'],
    ['format/webp', 'original', 'the full size'],
    ['resize/100x100', 720, 'a centred crop'],
    ['crop/0,0,1000,750/resize/128x96', 1024, 'a crop on whole pixels'],
    ['crop/0,0,1000,750/resize/400x300', 'original', 'a crop that is too small in both'],
    ['resize/4000x10', 'original', 'one side is below 1.6 times the output'],
  ];

  it.each(choices)('%s reads %s: %s', (chain, expected) => {
    const { object } = chooseSource(mustPlan(chain), photo, mezzanines);
    expect(object === 'original' ? object : object.long_edge).toBe(expected);
  });

  it('reads the smallest mezzanine that an older file has', () => {
    const { object } = chooseSource(mustPlan('resize/440x'), photo, older);
    expect(object).toBe(older[1]);
  });

  it('resizes a window on whole pixels directly to the output, without a frame', () => {
    const found = chooseSource(mustPlan('crop/1000,750,2000,1500/resize/100x75'), photo, older);
    expect(found).toEqual({
      object: older[1],
      window: { x: 256, y: 192, width: 512, height: 384 },
    });
  });

  it('reads more than the output shows if an edge falls between two pixels', () => {
    const crop = mustPlan('crop/1001,751,2000,1500/resize/251x188');
    const found = chooseSource(crop, photo, older);
    expect(found.frame).toBeDefined();
    expect(found.window.width).toBeGreaterThan(512);
    expect(offset(crop, found)).toBeLessThan(0.1);
  });

  it('keeps the planned window if it reads the original', () => {
    const whole = mustPlan('resize/3000x3000');
    expect(chooseSource(whole, photo, [])).toEqual({ object: 'original', window: whole.window });
  });

  it('reads the raster grid of an SVG, never its original', () => {
    const grid = { ...mezzanine(2048, 1024), content_type: 'image/png' };
    const half = { ...mezzanine(1024, 512), content_type: 'image/png' };
    const enlarged = mustPlan('crop/3,5,1000,500/resize/4000x2000', drawing);
    expect(chooseSource(enlarged, drawing, [half, grid])).toEqual({
      object: grid,
      window: { x: 3, y: 5, width: 1000, height: 500 },
    });
    expect(chooseSource(mustPlan('resize/100x50', drawing), drawing, [grid, half]).object).toBe(
      half,
    );
  });

  it('orders the mezzanines of a narrow SVG by long edge, since their widths are equal', () => {
    const images = [mezzanine(5, 2048), mezzanine(5, 1024), mezzanine(5, 720)];
    const narrow = { ...drawing, width: 5, height: 2048 };
    for (const mezzanines of [images, images.toReversed()]) {
      const whole = chooseSource(mustPlan('format/png', narrow), narrow, mezzanines);
      expect(whole.object).toBe(images[0]);
      const small = chooseSource(mustPlan('resize/x100', narrow), narrow, mezzanines);
      expect(small.object).toBe(images[2]);
    }
  });

  it('always reads a window inside the object and a frame that contains the output', () => {
    const property = fc.property(crops, (planned) => {
      const { object, window, frame } = chooseSource(planned, photo, mezzanines);
      const size = object === 'original' ? photo : object;
      const { output } = planned;
      expect(
        Math.min(window.x, window.y, window.width - 1, window.height - 1),
      ).toBeGreaterThanOrEqual(0);
      expect(window.x + window.width).toBeLessThanOrEqual(size.width);
      expect(window.y + window.height).toBeLessThanOrEqual(size.height);
      if (frame === undefined) return;
      expect(Math.min(frame.x, frame.y)).toBeGreaterThanOrEqual(0);
      expect(frame.x + output.width).toBeLessThanOrEqual(frame.width);
      expect(frame.y + output.height).toBeLessThanOrEqual(frame.height);
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('shifts no edge by more than 0.15 output pixels unless it reads the largest mezzanine', () => {
    const property = fc.property(crops, (planned) => {
      const found = chooseSource(planned, photo, mezzanines);
      if (found.object === 'original' || found.object === mezzanines[0]) return;
      expect(offset(planned, found)).toBeLessThanOrEqual(0.15 + 1e-9);
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it('never shifts an edge by more than half a pixel of the object that it reads', () => {
    const property = fc.property(crops, (planned) => {
      const found = chooseSource(planned, photo, mezzanines);
      expect(offset(planned, found)).toBeLessThanOrEqual(0.5 / 1.6 + 1e-9);
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it('shows the whole picture from a mezzanine whose ratio differs slightly', () => {
    const odd = { ...photo, width: 4272, height: 2848 };
    const halves = [mezzanine(2048, 1368), mezzanine(1024, 688)];
    const whole = mustPlan('resize/500x', odd);
    const found = chooseSource(whole, odd, halves);
    expect(found).toEqual({ object: halves[1], window: { x: 0, y: 0, width: 1024, height: 688 } });
    expect(offset(whole, found, odd)).toBe(0);
  });

  const number = fc.integer({ min: 0, max: 4000 });
  const side = fc.integer({ min: 1, max: 1100 });
  const crops = fc
    .tuple(number, number, number, number, side, side)
    .map(([x, y, w, h, width, height]) =>
      plan(`crop/${x},${y},${w},${h}/resize/${width}x${height}/smart`),
    )
    .filter((planned) => planned !== undefined);
});
