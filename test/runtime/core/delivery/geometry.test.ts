import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChain } from '../../../../runtime/core/delivery/chain.ts';
import {
  geometry,
  type OutputFormat,
  type SourceFacts,
} from '../../../../runtime/core/delivery/geometry.ts';
import type { ParsedChain } from '../../../../runtime/core/delivery/operations.ts';

function source(width: number, height: number, change: Partial<SourceFacts> = {}): SourceFacts {
  return {
    content_type: 'image/jpeg',
    width,
    height,
    has_alpha: false,
    is_lossless: false,
    focal_x: 0.5,
    focal_y: 0.5,
    ...change,
  };
}

function sized(size: string): SourceFacts {
  const [width, height] = size.split('x').map(Number);
  return source(width ?? 0, height ?? 0);
}

/** `windowWidth x windowHeight + x + y → width x height`, as image tools write it. */
function shape(
  from: SourceFacts,
  chain: string,
  format: OutputFormat = 'jpeg',
): string | undefined {
  const parsed = parseChain(chain);
  const found = parsed && geometry(from, parsed, format);
  if (found === undefined) return undefined;
  const { window: w, output: o } = found;
  return `${w.width}x${w.height}+${w.x}+${w.y} → ${o.width}x${o.height}`;
}

describe('source window and output size', () => {
  it.each([
    ['format/webp', '4000x3000+0+0 → 4000x3000', 'no resize keeps the size'],
    ['resize/640x480', '4000x3000+0+0 → 640x480', 'the same ratio reads everything'],
    ['resize/500x500', '3000x3000+500+0 → 500x500', 'fill crops the centre of the long side'],
    ['resize/1600x900', '4000x2250+0+375 → 1600x900', 'fill crops the centre of the short side'],
    ['resize/500x500/crop', '3000x3000+500+0 → 500x500', 'crop is an alias of fill'],
    ['resize/500x500/fit', '4000x3000+0+0 → 500x375', 'fit stays inside the box'],
    ['resize/4000x100/fit', '4000x3000+0+0 → 133x100', 'fit rounds the other side'],
    ['resize/640x', '4000x3000+0+0 → 640x480', 'a single width keeps the ratio'],
    ['resize/x480', '4000x3000+0+0 → 640x480', 'a single height keeps the ratio'],
    ['resize/333x', '4000x3000+0+0 → 333x250', '249.75 rounds up'],
    ['resize/3x', '4000x3000+0+0 → 3x2', '2.25 rounds down'],
    ['resize/2x', '4000x3000+0+0 → 2x2', 'a half rounds up'],
    ['resize/1x', '4000x3000+0+0 → 1x1', 'no side is below one pixel'],
    ['crop/100,200,300,400', '300x400+100+200 → 300x400', 'a crop alone'],
    ['crop/3900,2900,300,400', '100x100+3900+2900 → 100x100', 'the crop is clipped to the image'],
    ['crop/0,0,999999999,999999999', '4000x3000+0+0 → 4000x3000', 'a crop beyond the image'],
    ['crop/100,200,300,400/resize/100x100', '300x300+100+250 → 100x100', 'crop, then resize'],
    ['crop/100,200,300,400/resize/x100', '300x400+100+200 → 75x100', 'the crop has the ratio'],
    ['resize/7x3', '4000x1714+0+643 → 7x3', 'a ratio that is not whole'],
    ['resize/8000x6000', '4000x3000+0+0 → 4729x3547', '48 MP are scaled down to 16.7'],
  ])('%s of 4000x3000 gives %s: %s', (chain, expected) => {
    expect(shape(source(4000, 3000), chain)).toBe(expected);
  });

  it.each([
    ['crop/4000,0,10,10', 'right of the image'],
    ['crop/0,3000,10,10', 'below the image'],
    ['crop/0,0,0,10', 'without width'],
    ['crop/0,0,10,0', 'without height'],
  ])('%s of 4000x3000 is rejected: %s', (chain) => {
    expect(shape(source(4000, 3000), chain)).toBeUndefined();
  });
});

describe('a center that falls between two pixels', () => {
  it('is rounded towards the top left', () => {
    expect(shape(source(4001, 3000), 'resize/500x500')).toBe('3000x3000+500+0 → 500x500');
    expect(shape(source(3000, 4001), 'resize/500x500')).toBe('3000x3000+0+500 → 500x500');
  });
});

describe('resize with smart', () => {
  it.each([
    [0.5, 0.5, '3000x3000+500+0', 'a flat picture: the center, as fill'],
    [0.75, 0.5, '3000x3000+1000+0', 'shifted to the right edge'],
    [0.4, 0.1, '3000x3000+100+0', 'centered on the focal point'],
    [0, 0, '3000x3000+0+0', 'shifted to the left edge'],
    [1, 1, '3000x3000+1000+0', 'shifted to the right edge'],
  ])('with the focal point at %f, %f reads %s: %s', (focal_x, focal_y, window) => {
    const from = source(4000, 3000, { focal_x, focal_y });
    expect(shape(from, 'resize/500x500/smart')).toBe(`${window} → 500x500`);
  });

  it('keeps the window around the focal point inside the crop', () => {
    const from = source(4000, 3000, { focal_x: 0.1, focal_y: 0.9 });
    expect(shape(from, 'crop/0,0,2000,1000/resize/100x100/smart')).toBe('1000x1000+0+0 → 100x100');
  });
});

describe('the limit on enlarging', () => {
  it.each([
    ['100x100', 'resize/2048x2048', true, 'any source may reach 2048x2048'],
    ['100x100', 'resize/2049x2048', false, 'and no more'],
    ['1x1', 'resize/8192x512', true, 'which is an area, not a box'],
    ['1000x1000', 'resize/4000x4000', true, '16 times the source area'],
    ['1000x1000', 'resize/4000x4001', false, 'and no more'],
    ['1000x1000', 'resize/4000x', true, 'a single side enlarges'],
    ['1000x1000', 'resize/4001x', false, 'within the rule'],
    ['100x1000', 'resize/8192x', false, 'judged before caps, the other side included'],
    ['1000x1000', 'resize/8192x4000/fit', true, 'fit is judged by what comes out of it'],
    ['1000x1000', 'resize/8192x4001/fit', false, 'fit is judged by what comes out of it'],
    ['4000x3000', 'crop/0,0,10,10/resize/4000x4000', true, 'the source is the image, not the crop'],
    ['1024x1024', 'resize/4096x4096', true, 'exactly 16 times'],
  ])('%s with %s is allowed: %s (%s)', (size, chain, isAllowed) => {
    expect(shape(sized(size), chain) !== undefined).toBe(isAllowed);
  });
});

describe('output size caps', () => {
  const large = source(12_000, 10_000);
  const capped: [string, OutputFormat, string, string][] = [
    ['resize/8192x8192', 'jpeg', '4096x4096', '16,777,216 pixels'],
    ['resize/8192x8192', 'avif', '3464x3464', '12,000,000 pixels'],
    ['resize/8192x2048', 'webp', '8192x2048', 'exactly at the cap'],
    ['resize/8192x2049', 'png', '8190x2048', 'one row above the cap'],
    ['resize/4096x4096', 'gif', '4096x4096', 'gif as the others'],
    ['resize/4000x3000', 'avif', '4000x3000', '12 MP in AVIF'],
    ['resize/4001x3000', 'avif', '4000x2999', 'just above 12 MP in AVIF'],
    ['format/jpeg', 'jpeg', '4486x3739', 'no resize is capped too'],
  ];

  it.each(capped)('%s in %s is rendered at %s: %s', (chain, format, size) => {
    expect(shape(large, chain, format)?.split(' → ')[1]).toBe(size);
  });

  it.each([
    ['20000x100', 'format/png', '8192x40', 'a long source'],
    ['100x20000', 'format/png', '40x8192', 'a tall source'],
    ['128000000x1', 'format/png', '8192x1', 'the longest source there is'],
    ['20000x2500', 'resize/x2000', '8192x1024', 'the side that follows'],
  ])('%s with %s is rendered at %s: %s', (from, chain, size) => {
    expect(shape(sized(from), chain)?.split(' → ')[1]).toBe(size);
  });
});

describe('sources that are costly to decode', () => {
  const avif = { content_type: 'image/avif' } as const;
  const lossy = { content_type: 'image/webp' } as const;
  const lossless = { content_type: 'image/webp', is_lossless: true } as const;
  const alpha = { ...lossless, has_alpha: true };

  it.each([
    ['AVIF', source(5000, 3000, avif), true],
    ['AVIF', source(5000, 3001, avif), false],
    ['lossless WebP', source(5000, 5000, lossless), true],
    ['lossless WebP', source(5000, 5001, lossless), false],
    ['lossless WebP with alpha', source(5000, 4500, alpha), true],
    ['lossless WebP with alpha', source(5000, 4501, alpha), false],
    ['lossy WebP', source(7000, 7000, lossy), true],
    ['JPEG', source(12_000, 10_000), true],
    [
      'lossless PNG',
      source(12_000, 10_000, { content_type: 'image/png', is_lossless: true }),
      true,
    ],
  ])('%s of %o can be transformed: %s', (_, from, isPossible) => {
    for (const chain of ['resize/10x10', 'format/webp', 'crop/0,0,10,10']) {
      expect(shape(from, chain) !== undefined).toBe(isPossible);
    }
  });

  it.each([
    [source(4000, 3000, avif), '4000x3000'],
    [source(4000, 3001, avif), '2364x1773'],
    [source(4000, 3001, lossy), '2364x1773'],
    [source(4000, 3001, lossless), '2364x1773'],
    [source(4000, 3001), '4000x3001'],
  ])('%o renders at %s', (from, size) => {
    expect(shape(from, 'format/webp')?.split(' → ')[1]).toBe(size);
  });

  it('a very large WebP is scaled down only if the output exceeds 2048x2048 pixels', () => {
    expect(shape(source(7000, 7000, lossy), 'resize/2048x2048')).toContain('→ 2048x2048');
    expect(shape(source(7000, 7000, lossy), 'resize/2049x2048')).toContain('→ 2048x2047');
  });
});

describe('any source and chain', () => {
  const sources = fc
    .record({
      width: fc.integer({ min: 1, max: 12_000 }),
      height: fc.integer({ min: 1, max: 10_000 }),
      focal_x: fc.double({ min: 0, max: 1, noNaN: true }),
      focal_y: fc.double({ min: 0, max: 1, noNaN: true }),
      content_type: fc.constantFrom('image/jpeg', 'image/png', 'image/webp', 'image/avif'),
      is_lossless: fc.boolean(),
      has_alpha: fc.boolean(),
    })
    .map((facts): SourceFacts => facts);
  const side = fc.option(fc.integer({ min: 1, max: 8192 }));
  const number = fc.integer({ min: 0, max: 12_000 });
  const resized = fc
    .record(
      {
        resize: fc.record({ width: side, height: side }),
        mode: fc.constantFrom('fill', 'smart', 'fit'),
        crop: fc.record({ x: number, y: number, width: number, height: number }),
      },
      { requiredKeys: ['resize', 'mode'] },
    )
    .map((chain): ParsedChain => chain);
  const formats = fc.constantFrom<OutputFormat>('jpeg', 'png', 'webp', 'avif', 'gif');

  function forAll(check: (facts: SourceFacts, chain: ParsedChain, format: OutputFormat) => void) {
    fc.assert(fc.property(sources, resized, formats, check), { numRuns: 2000 });
  }

  it('the window consists of whole pixels inside the source and the crop', () => {
    forAll((facts, chain, format) => {
      const window = geometry(facts, chain, format)?.window;
      if (window === undefined) return;
      const { x, y, width, height } = chain.crop ?? { x: 0, y: 0, ...facts };
      expect(Object.values(window).every(Number.isSafeInteger)).toBe(true);
      expect(window.x).toBeGreaterThanOrEqual(x);
      expect(window.y).toBeGreaterThanOrEqual(y);
      expect(Math.min(window.width, window.height)).toBeGreaterThanOrEqual(1);
      expect(window.x + window.width).toBeLessThanOrEqual(Math.min(facts.width, x + width));
      expect(window.y + window.height).toBeLessThanOrEqual(Math.min(facts.height, y + height));
    });
  });

  it('the output has at most 8192 pixels a side and 16,777,216 in all, or 12,000,000 in AVIF', () => {
    forAll((facts, chain, format) => {
      const output = geometry(facts, chain, format)?.output;
      if (output === undefined) return;
      expect(Math.max(output.width, output.height)).toBeLessThanOrEqual(8192);
      expect(Math.min(output.width, output.height)).toBeGreaterThanOrEqual(1);
      const most = format === 'avif' ? 12_000_000 : 16_777_216;
      expect(output.width * output.height).toBeLessThanOrEqual(most);
    });
  });

  it('a side deviates from the requested ratio by at most one pixel', () => {
    forAll((facts, chain, format) => {
      const found = geometry(facts, chain, format);
      if (found === undefined) return;
      const { window, output } = found;
      const { width, height } = chain.resize ?? { width: null, height: null };
      const isBox = width !== null && height !== null && chain.mode !== 'fit';
      const ratio = isBox ? width / height : window.width / window.height;
      expectWithinOnePixel(output, ratio);
      if (isBox) expectWithinOnePixel(window, ratio);
    });
  });

  it('a cap does not scale down further than necessary', () => {
    forAll((facts, chain, format) => {
      const output = geometry(facts, chain, format)?.output;
      const { width, height } = chain.resize ?? { width: null, height: null };
      if (output === undefined || width === null || height === null || chain.mode === 'fit') return;
      if (output.width === width && output.height === height) return;
      const larger = (output.width + 1) * (output.height + 1);
      const isSlow = facts.content_type === 'image/avif' || facts.content_type === 'image/webp';
      const isSmall = isSlow && facts.width * facts.height > 12_000_000;
      const most = isSmall ? 4_194_304 : format === 'avif' ? 12_000_000 : 16_777_216;
      expect(larger).toBeGreaterThan(most);
    });
  });
});

/** At least one side is within a pixel of its exact value, computed from the other side. */
function expectWithinOnePixel(size: { width: number; height: number }, ratio: number): void {
  const width = Math.abs(size.width - size.height * ratio);
  const height = Math.abs(size.height - size.width / ratio);
  expect(Math.min(width, height)).toBeLessThanOrEqual(1);
}
