import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deliveryCredits } from '../../../runtime/core/metering.ts';
import { foldDeliveries, type SpooledDelivery } from '../../../runtime/delivery/usage-batch.ts';

const lines: fc.Arbitrary<SpooledDelivery> = fc.record({
  at: fc.integer({ min: 0, max: 20_000_000 }),
  project_id: fc.constantFrom('a', 'b'),
  bytes: fc.integer({ min: 0, max: 50_000_000 }),
  kind: fc.constantFrom('derived', 'originals', 'raw'),
  is_watermarked: fc.boolean(),
});

describe('foldDeliveries', () => {
  it('preserves all totals, in whatever order deliveries come', () => {
    fc.assert(
      fc.property(fc.array(lines), (deliveries) => {
        const entries = foldDeliveries(deliveries);
        const sum = (field: 'requests' | 'bytes' | 'transforms' | 'credits') =>
          entries.reduce((total, entry) => total + entry[field], 0);
        const credits = deliveries.map(({ bytes, kind, is_watermarked }) =>
          deliveryCredits({ bytes, is_raw: kind === 'raw', is_watermarked }),
        );
        expect(sum('requests')).toBe(deliveries.length);
        expect(sum('bytes')).toBe(deliveries.reduce((total, { bytes }) => total + bytes, 0));
        expect(sum('transforms')).toBe(deliveries.filter(({ kind }) => kind === 'derived').length);
        expect(sum('credits')).toBe(credits.reduce((total, each) => total + each, 0));
        const sorted = (of: typeof entries) => of.map((entry) => JSON.stringify(entry)).toSorted();
        expect(sorted(foldDeliveries(deliveries.toReversed()))).toEqual(sorted(entries));
      }),
    );
  });

  it('has at most one entry for each project and hour', () => {
    fc.assert(
      fc.property(fc.array(lines), (deliveries) => {
        const keys = foldDeliveries(deliveries).map(
          ({ project_id, window_start }) => `${project_id} ${window_start.getTime()}`,
        );
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys.every((key) => Number(key.split(' ')[1]) % 3_600_000 === 0)).toBe(true);
      }),
    );
  });

  it('rejects a line that is not a delivery', () => {
    for (const line of [null, {}, { at: 1 }, { at: 1, project_id: 'a', bytes: -1 }]) {
      expect(() => foldDeliveries([line])).toThrow();
    }
  });
});
