import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChain } from '../../../../runtime/core/delivery/chain.ts';
import type { SourceFacts } from '../../../../runtime/core/delivery/geometry.ts';
import {
  planRender,
  pngCompressionLevel,
  printDerivedKey,
  printPlan,
} from '../../../../runtime/core/delivery/plan.ts';
import type { WatermarkFacts } from '../../../../runtime/core/delivery/watermark.ts';
import { spellings } from '../../../support/chains.ts';
import { drawing, mustPlan, photo, plan } from '../../../support/planned.ts';

const logo: WatermarkFacts = {
  object_key: 'prj_1/file_2/1-abc',
  width: 100,
  height: 50,
  x_offset: 10,
  y_offset: -10,
  opacity: 80,
  revision_tag: 'file_2:1',
};

function printed(chain: string, watermark: WatermarkFacts | null = null): string | undefined {
  const found = plan(chain, photo, watermark);
  return found && printPlan(found);
}

describe('planRender', () => {
  it('plans window, output size, format, quality and watermark', () => {
    expect(plan('resize/640x480/format/webp/quality/70', photo, logo)).toEqual({
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
  ] as const)('renders %s as %s by default, at quality %s', (content_type, format, quality) => {
    expect(plan('resize/10x10', { ...photo, content_type })).toMatchObject({ format, quality });
  });

  it('ignores quality for a GIF unless another format is requested', () => {
    const gif: SourceFacts = { ...photo, content_type: 'image/gif' };
    expect(plan('quality/10', gif)?.quality).toBeNull();
    expect(plan('quality/10/format/webp', gif)?.quality).toBe(10);
  });

  it('transforms an SVG on its raster grid', () => {
    expect(plan('crop/0,0,1024,1024/resize/100x100', drawing)).toMatchObject({
      window: { x: 0, y: 0, width: 1024, height: 1024 },
      output: { width: 100, height: 100 },
      format: 'png',
    });
  });

  it('returns undefined for a chain that the output rules forbid', () => {
    expect(plan('crop/4000,0,1,1')).toBeUndefined();
    expect(plan('resize/8192x', { ...photo, width: 100, height: 1000 })).toBeUndefined();
  });
});

describe('the quality of a PNG', () => {
  it('maps onto compression levels from 9 at quality 1 to 0 at 100, never rising', () => {
    const levels = Array.from({ length: 100 }, (_, at) => pngCompressionLevel(at + 1));
    expect([levels[0], levels[49], levels[99]]).toEqual([9, 5, 0]);
    expect(levels).toEqual(levels.toSorted((one, other) => other - one));
    expect(new Set(levels).size).toBe(10);
  });

  it('shares one plan with every quality of the same compression level', () => {
    for (let quality = 1; quality <= 100; quality += 1) {
      const planned = plan(`format/png/quality/${quality}`)?.quality ?? 0;
      expect(pngCompressionLevel(planned)).toBe(pngCompressionLevel(quality));
    }
    const texts = ['95', '100'].map((quality) => printed(`format/png/quality/${quality}`));
    expect(texts[0]).toBe(texts[1]);
  });
});

describe('printPlan', () => {
  it('prints the same plan for two spellings of a chain', () => {
    const property = fc.property(spellings, (texts) => {
      const plans = texts.map((text) => {
        const { preset: _, ...chain } = parseChain(text) ?? {};
        const found = planRender({ source: photo, chain, watermark: logo });
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
  ])('prints the same plan for %s and %s', (one, other) => {
    expect(printed(one)).toBe(printed(other));
  });

  it('prints another plan for anything that changes the picture', () => {
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
    object_key: 'masters/prj_1/upl_1/1-a.png',
    plan: mustPlan('resize/640x480/format/webp'),
  };

  it('names project, generation, file and revision, and hashes the plan', () => {
    expect(printDerivedKey(key)).toMatch(/^derived\/prj_1\/3\/file_1\/2\/[0-9a-f]{40}\.webp$/);
  });

  it('changes with every part of the key', () => {
    const keys = [
      key,
      { ...key, project_id: 'prj_2' },
      { ...key, generation: 4 },
      { ...key, file_id: 'file_2' },
      { ...key, revision: 3 },
      // After the database is restored from a backup, a revision number may occur again.
      { ...key, object_key: 'masters/prj_1/upl_2/1-a.png' },
      { ...key, plan: mustPlan('resize/640x481/format/webp') },
    ].map(printDerivedKey);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
