import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChain } from '../../../../runtime/core/delivery/chain.ts';
import {
  chooseSource,
  type Mezzanine,
  planRender,
  pngCompressionLevel,
  printDerivedKey,
  printPlan,
  type RenderPlan,
  type SourceFacts,
  type WatermarkFacts,
} from '../../../../runtime/core/delivery/plan.ts';
import { spellings } from '../../../support/chains.ts';

const source: SourceFacts = {
  content_type: 'image/jpeg',
  width: 4000,
  height: 3000,
  has_alpha: false,
  is_lossless: false,
  focal_x: 0.3,
  focal_y: 0.6,
};
const svg: SourceFacts = { ...source, content_type: 'image/svg+xml', width: 2048, height: 1024 };
const logo: WatermarkFacts = {
  object_key: 'prj_1/file_2/1-abc',
  width: 100,
  height: 50,
  x_offset: 10,
  y_offset: -10,
  opacity: 80,
  revision_tag: 'file_2:1',
};

function plan(chain: string, from = source, watermark: WatermarkFacts | null = null) {
  const parsed = parseChain(chain);
  return parsed && planRender({ source: from, chain: parsed, watermark });
}

function render(chain: string, from = source): RenderPlan {
  const found = plan(chain, from);
  if (found === undefined) throw new Error(`${chain} has no plan`);
  return found;
}

function printed(chain: string, watermark: WatermarkFacts | null = null): string | undefined {
  const found = plan(chain, source, watermark);
  return found && printPlan(found);
}

describe('planRender', () => {
  it('knows the whole render', () => {
    expect(plan('resize/640x480/format/webp/quality/70', source, logo)).toEqual({
      window: { x: 0, y: 0, width: 4000, height: 3000 },
      output: { width: 640, height: 480 },
      format: 'webp',
      quality: 70,
      watermark: {
        object_key: 'prj_1/file_2/1-abc',
        revision_tag: 'file_2:1',
        width: 100,
        height: 50,
        x: 10,
        y: 420,
        opacity: 80,
      },
    });
  });

  it.each([
    ['image/jpeg', 'jpeg', 80],
    ['image/png', 'png', 39],
    ['image/webp', 'webp', 80],
    ['image/avif', 'avif', 50],
    ['image/gif', 'gif', null],
    ['image/svg+xml', 'png', 39],
  ] as const)('%s comes out as %s by default, at quality %s', (content_type, format, quality) => {
    expect(plan('resize/10x10', { ...source, content_type })).toMatchObject({ format, quality });
  });

  it('a GIF ignores a quality, but not where another format is asked for', () => {
    const gif: SourceFacts = { ...source, content_type: 'image/gif' };
    expect(plan('quality/10', gif)?.quality).toBeNull();
    expect(plan('quality/10/format/webp', gif)?.quality).toBe(10);
  });

  it('an SVG is transformed on its raster grid', () => {
    expect(plan('crop/0,0,1024,1024/resize/100x100', svg)).toMatchObject({
      window: { x: 0, y: 0, width: 1024, height: 1024 },
      output: { width: 100, height: 100 },
      format: 'png',
    });
  });

  it('has no plan where the output rules forbid one', () => {
    expect(plan('crop/4000,0,1,1')).toBeUndefined();
    expect(plan('resize/8192x', { ...source, width: 100, height: 1000 })).toBeUndefined();
  });
});

describe('the quality of a PNG', () => {
  it('is a compression level from 9 at 1 to 0 at 100, and never rises with quality', () => {
    const levels = Array.from({ length: 100 }, (_, at) => pngCompressionLevel(at + 1));
    expect([levels[0], levels[49], levels[99]]).toEqual([9, 5, 0]);
    expect(levels).toEqual(levels.toSorted((one, other) => other - one));
    expect(new Set(levels).size).toBe(10);
  });

  it('shares one plan with every quality of its level', () => {
    for (let quality = 1; quality <= 100; quality += 1) {
      const planned = plan(`format/png/quality/${quality}`)?.quality ?? 0;
      expect(pngCompressionLevel(planned)).toBe(pngCompressionLevel(quality));
    }
    const texts = ['95', '100'].map((quality) => printed(`format/png/quality/${quality}`));
    expect(texts[0]).toBe(texts[1]);
  });
});

describe('printPlan', () => {
  it('two spellings of one chain give the same plan', () => {
    const property = fc.property(spellings, (texts) => {
      const plans = texts.map((text) => {
        const { preset: _, ...chain } = parseChain(text) ?? {};
        const found = planRender({ source, chain, watermark: logo });
        return found && printPlan(found);
      });
      expect(plans[0]).toBe(plans[1]);
    });
    fc.assert(property);
  });

  it.each([
    ['resize/640x480', 'resize/640x'],
    ['resize/640x480', 'resize/640x480/fit'],
    ['resize/640x480', 'resize/640x480/format/jpg'],
    ['resize/640x480', 'resize/640x480/quality/80'],
    ['resize/640x480', 'crop/0,0,4000,3000/resize/640x480'],
    ['resize/640x480', 'crop/0,0,5000,5000/resize/x480'],
    ['format/jpeg', 'quality/80'],
    ['resize/640x480', 'resize/640x480/watermark'],
  ])('%s and %s are one picture and one plan', (one, other) => {
    expect(printed(one)).toBe(printed(other));
  });

  it('anything that changes the picture changes the text', () => {
    const texts = [
      printed('resize/640x480'),
      printed('resize/640x481'),
      printed('resize/640x480/format/webp'),
      printed('resize/640x480/quality/81'),
      printed('resize/640x481/smart'),
      printed('resize/640x480', logo),
      printed('resize/640x480', { ...logo, revision_tag: 'file_2:2' }),
      printed('resize/640x480', { ...logo, opacity: 81 }),
      printed('resize/640x480', { ...logo, x_offset: 11 }),
    ];
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe('printDerivedKey', () => {
  const key = {
    project_id: 'prj_1',
    generation: 3,
    file_id: 'file_1',
    revision: 2,
    plan: render('resize/640x480/format/webp'),
  };

  it('names project, generation, file and revision, and hides the plan behind a hash', () => {
    expect(printDerivedKey(key)).toMatch(/^derived\/prj_1\/3\/file_1\/2\/[0-9a-f]{40}\.webp$/);
  });

  it('changes with everything that makes another object', () => {
    const keys = [
      key,
      { ...key, project_id: 'prj_2' },
      { ...key, generation: 4 },
      { ...key, file_id: 'file_2' },
      { ...key, revision: 3 },
      { ...key, plan: render('resize/640x481/format/webp') },
    ].map(printDerivedKey);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('chooseSource', () => {
  const mezzanines: Mezzanine[] = [mezzanine(2048, 1536), mezzanine(1024, 768)];

  const choices: [string, number | string, string][] = [
    ['resize/512x384', 1024, 'exactly twice the output'],
    ['resize/513x385', 2048, 'the smaller one is below twice the output'],
    ['resize/1024x768', 2048, 'exactly twice the output'],
    ['resize/1025x769', 'original', 'none is large enough'],
    ['format/webp', 'original', 'the full size'],
    ['resize/100x100', 1024, 'a centred crop whose edges fall close enough'],
    ['crop/0,0,1000,750/resize/128x96', 1024, 'a crop on whole pixels'],
    ['crop/0,0,1000,750/resize/400x300', 'original', 'a crop that is too small in both'],
    ['resize/4000x10', 'original', 'one side is below twice the output'],
  ];

  it.each(choices)('%s reads %s: %s', (chain, expected) => {
    const { object } = chooseSource(render(chain), source, mezzanines);
    expect(object === 'original' ? object : object.long_edge).toBe(expected);
  });

  it('a crop that falls between the pixels reads it all the same, moved by a quarter of an output pixel at most', () => {
    const plan = render('crop/1,1,2000,1500/resize/256x192');
    const { object, window } = chooseSource(plan, source, mezzanines);
    expect(object).toBe(mezzanines[1]);
    const across = 1024 / source.width;
    const pixel = window.width / plan.output.width;
    for (const [exact, read] of [
      [across, window.x],
      [2001 * across, window.x + window.width],
    ] as const) {
      expect(Math.abs(exact - read) / pixel).toBeLessThanOrEqual(0.25);
    }
  });

  it('maps the window into the chosen image', () => {
    const found = chooseSource(render('crop/1000,750,2000,1500/resize/100x75'), source, mezzanines);
    expect(found).toMatchObject({
      object: { long_edge: 1024 },
      window: { x: 256, y: 192, width: 512, height: 384 },
    });
  });

  it('keeps the window of the plan on the original', () => {
    const whole = render('resize/3000x3000');
    expect(chooseSource(whole, source, [])).toEqual({ object: 'original', window: whole.window });
  });

  it('never reads the original of an SVG, but its grid', () => {
    const grid = { ...mezzanine(2048, 1024), content_type: 'image/png' };
    const half = { ...mezzanine(1024, 512), content_type: 'image/png' };
    const enlarged = render('crop/3,5,1000,500/resize/4000x2000', svg);
    expect(chooseSource(enlarged, svg, [half, grid])).toEqual({
      object: grid,
      window: { x: 3, y: 5, width: 1000, height: 500 },
    });
    expect(chooseSource(render('resize/100x50', svg), svg, [grid, half]).object).toBe(half);
  });

  it('always reads a window inside the object, at least twice the output on a half-way image', () => {
    const number = fc.integer({ min: 0, max: 4000 });
    const side = fc.integer({ min: 1, max: 1100 });
    const property = fc.property(number, number, number, number, side, side, (...numbers) => {
      const [x, y, w, h, width, height] = numbers;
      const planned = plan(`crop/${x},${y},${w},${h}/resize/${width}x${height}/smart`);
      if (planned === undefined) return;
      const { object, window } = chooseSource(planned, source, mezzanines);
      const size = object === 'original' ? source : object;
      expect(Math.min(window.x, window.y)).toBeGreaterThanOrEqual(0);
      expect(window.x + window.width).toBeLessThanOrEqual(size.width);
      expect(window.y + window.height).toBeLessThanOrEqual(size.height);
      if (object === 'original') return;
      expect(window.width).toBeGreaterThanOrEqual(2 * width);
      expect(window.height).toBeGreaterThanOrEqual(2 * height);
    });
    fc.assert(property, { numRuns: 500 });
  });

  function mezzanine(width: number, height: number): Mezzanine {
    return {
      long_edge: width,
      width,
      height,
      object_key: `m${width}`,
      content_type: 'image/jpeg',
    };
  }
});
