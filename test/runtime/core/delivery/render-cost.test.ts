import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RenderWork, renderCostMs } from '../../../../runtime/core/delivery/render-cost.ts';

const size = (width: number, height: number) => ({ width, height });
const work = (of: Partial<RenderWork> & { type?: string } = {}): RenderWork => ({
  source: { ...size(4000, 3000), content_type: of.type ?? 'image/jpeg', is_lossless: false },
  window: size(4000, 3000),
  output: size(400, 300),
  format: 'jpeg',
  ...of,
});

it('rendering from a mezzanine costs less than a tenth of rendering from a PNG original', () => {
  const small = { ...size(1024, 768), content_type: 'image/jpeg', is_lossless: false };
  const cheap = renderCostMs(work({ source: small, window: size(1024, 768) }));
  expect(cheap).toBeLessThan(renderCostMs(work({ type: 'image/png' })) / 10);
});

it('render costs by source type are ordered as measured', () => {
  const costs = ['image/jpeg', 'image/gif', 'image/webp', 'image/png', 'image/avif'].map((type) =>
    renderCostMs(work({ type })),
  );
  expect(costs).toEqual(costs.toSorted((one, other) => one - other));
});

it('render costs by output format are ordered as measured', () => {
  const output = size(1200, 900);
  const costs = (['jpeg', 'webp', 'avif', 'gif'] as const).map((format) =>
    renderCostMs(work({ output, format })),
  );
  expect(costs).toEqual(costs.toSorted((one, other) => one - other));
});

it('rendering a larger output never costs less', () => {
  const side = fc.integer({ min: 1, max: 8000 });
  fc.assert(
    fc.property(side, side, fc.constantFrom('jpeg', 'webp', 'png', 'gif'), (one, more, format) => {
      const small = renderCostMs(work({ output: size(one, one), format }));
      const large = renderCostMs(work({ output: size(one + more, one + more), format }));
      expect(large).toBeGreaterThanOrEqual(small);
    }),
  );
});

it('an unknown source type costs as much as AVIF, the most expensive', () => {
  expect(renderCostMs(work({ type: 'image/new' }))).toBe(
    renderCostMs(work({ type: 'image/avif' })),
  );
});

describe('the cost of a watermark', () => {
  const output = size(150, 100);
  const marked = (type: string, side: number) => {
    const source = { ...size(side, side), content_type: type, is_lossless: false };
    return renderCostMs(work({ watermark: { source, output } }));
  };

  it('depends on the type and size of its source', () => {
    expect(renderCostMs(work({ watermark: null }))).toBe(renderCostMs(work()));
    const png = marked('image/png', 5000) - renderCostMs(work());
    expect(png).toBeGreaterThanOrEqual(25 * 30);
    expect(marked('image/avif', 5000)).toBeGreaterThan(marked('image/png', 5000));
    expect(marked('image/png', 100) - renderCostMs(work())).toBeLessThan(5);
  });

  it('is less than half as much for a JPEG, decoded at reduced size, as for a PNG', () => {
    expect(marked('image/jpeg', 5000)).toBeLessThan(marked('image/png', 5000) / 2);
  });
});
