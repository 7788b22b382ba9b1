import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chargedDays,
  countHoursClosed,
  dailyCharge,
  dayOf,
  deliveryCredits,
  hourOf,
  isHourExempt,
  isOverQuota,
  multiplierAt,
  nextHour,
  parseMultiplier,
  reconciledThrough,
  reconciliationDays,
} from '../../../runtime/core/metering.ts';

const MIB = 1_048_576;
const bytes = fc.oneof(
  fc.integer({ min: 0, max: 64 * MIB }),
  fc.maxSafeNat(),
  fc.integer({ min: 0, max: 100 }).map((count) => count * MIB),
);
const at = (text: string) => new Date(`2026-11-${text}Z`);

describe('deliveryCredits', () => {
  it('is never below 1', () => {
    fc.assert(
      fc.property(bytes, fc.boolean(), fc.boolean(), (count, is_raw, is_watermarked) => {
        expect(deliveryCredits({ bytes: count, is_raw, is_watermarked })).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  it('never falls when bytes grow', () => {
    fc.assert(
      fc.property(bytes, bytes, fc.boolean(), fc.boolean(), (a, b, is_raw, is_watermarked) => {
        const less = deliveryCredits({ bytes: Math.min(a, b), is_raw, is_watermarked });
        const more = deliveryCredits({ bytes: Math.max(a, b), is_raw, is_watermarked });
        expect(more).toBeGreaterThanOrEqual(less);
      }),
    );
  });

  it('is the exact cost, rounded up to whole credits', () => {
    fc.assert(
      fc.property(bytes, fc.boolean(), fc.boolean(), (count, is_raw, is_watermarked) => {
        const credits = BigInt(deliveryCredits({ bytes: count, is_raw, is_watermarked }));
        const cost = BigInt(count) * (is_raw ? 2n : 1n) * (is_watermarked ? 6n : 5n);
        const unit = 5n * BigInt(MIB);
        expect(credits * unit >= cost).toBe(true);
        if (credits > 1n) expect((credits - 1n) * unit < cost).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [0, false, false, 1],
    [MIB, false, false, 1],
    [MIB + 1, false, false, 2],
    [MIB, true, false, 2],
    [MIB, false, true, 2],
    [5 * MIB, false, true, 6],
    [5 * MIB, true, true, 12],
    [250_000_000, false, false, 239],
  ])('%d bytes, raw %s, watermarked %s cost %d', (count, is_raw, is_watermarked, credits) => {
    expect(deliveryCredits({ bytes: count, is_raw, is_watermarked })).toBe(credits);
  });

  it('rejects a byte count that is negative, fractional, NaN or unsafe', () => {
    for (const count of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => deliveryCredits({ bytes: count, is_raw: false, is_watermarked: false })).toThrow(
        RangeError,
      );
    }
  });
});

describe('dailyCharge', () => {
  const hour = fc.record({
    credits: fc.integer({ min: 0, max: 1e12 }),
    millionths: fc.integer({ min: 0, max: 1_000_000_000 }),
  });

  it('is the exact sum of hourly credits times multiplier, rounded up', () => {
    fc.assert(
      fc.property(fc.array(hour, { maxLength: 24 }), (hours) => {
        const charge = dailyCharge(
          hours.map(({ credits, millionths }) => ({
            credits,
            pricing_multiplier: `${Math.floor(millionths / 1e6)}.${String(millionths % 1e6).padStart(6, '0')}`,
          })),
        );
        const exact = hours.reduce((sum, h) => sum + BigInt(h.credits) * BigInt(h.millionths), 0n);
        expect(BigInt(charge)).toBe((exact + 999_999n) / 1_000_000n);
      }),
    );
  });

  it('rounds once a day rather than once an hour, and without floating-point error', () => {
    const tenth = { credits: 1, pricing_multiplier: '0.1' };
    expect(dailyCharge(Array.from({ length: 10 }, () => tenth))).toBe(1);
    expect(dailyCharge([{ credits: 100, pricing_multiplier: '1.1' }])).toBe(110);
    expect(dailyCharge([{ credits: 3, pricing_multiplier: '0.7' }])).toBe(3);
    expect(dailyCharge([])).toBe(0);
    expect(dailyCharge([{ credits: 5, pricing_multiplier: '0' }])).toBe(0);
  });

  it('rejects a multiplier that is not a plain decimal', () => {
    expect(() => dailyCharge([{ credits: 1, pricing_multiplier: '1e3' }])).toThrow(RangeError);
  });
});

describe('parseMultiplier', () => {
  it.each([
    [1, '1'],
    [1.5, '1.5'],
    [0, '0'],
    [0.000001, '0.000001'],
    ['1.500000', '1.5'],
    ['1000', '1000'],
    ['1.00', '1'],
  ])('reads %j as %s', (value, decimal) => expect(parseMultiplier(value)).toBe(decimal));

  it.each([
    -1,
    1000.5,
    1e-7,
    Number.NaN,
    1e21,
    '',
    '01',
    '1.',
    '.5',
    '1,5',
    '0x1',
    '1.0000001',
    ' 1',
  ])('rejects %j', (value) => expect(parseMultiplier(value)).toBeUndefined());

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), (millionths) => {
        const decimal = parseMultiplier(millionths / 1e6);
        if (decimal !== undefined) expect(parseMultiplier(decimal)).toBe(decimal);
      }),
    );
  });
});

describe('pricing multipliers and exemptions by hour', () => {
  const changes = [
    { effective_from: at('10T00:00:00'), pricing_multiplier: '2' },
    { effective_from: at('12T10:00:00'), pricing_multiplier: '3' },
  ];

  it('a multiplier applies from its effective hour on, which is the next full hour', () => {
    for (const order of [changes, changes.toReversed()]) {
      expect(multiplierAt(order, at('09T23:00:00'))).toBe('1');
      expect(multiplierAt(order, at('12T09:00:00'))).toBe('2');
      expect(multiplierAt(order, at('12T10:00:00'))).toBe('3');
    }
    expect(nextHour(at('12T09:20:00')).toISOString()).toBe('2026-11-12T10:00:00.000Z');
    expect(nextHour(at('12T09:00:00')).toISOString()).toBe('2026-11-12T09:00:00.000Z');
  });

  it('an hour that overlaps an exemption is exempt', () => {
    const periods = [{ from: at('12T10:59:59.999'), until: at('12T12:00:00') }];
    const exempt = ['09', '10', '11', '12'].filter((h) =>
      isHourExempt(periods, at(`12T${h}:00:00`)),
    );
    expect(exempt).toEqual(['10', '11']);
    expect(isHourExempt([{ from: at('12T00:00:00'), until: null }], at('30T00:00:00'))).toBe(true);
  });

  it('an exemption that starts at the next hour does not affect the hours before', () => {
    const next = [{ from: at('12T11:00:00'), until: null }];
    expect(isHourExempt(next, at('12T10:00:00'))).toBe(false);
    expect(isHourExempt(next, at('12T11:00:00'))).toBe(true);
  });
});

describe('hours and days', () => {
  it('an hour is final two hours after its end', () => {
    expect(reconciledThrough(at('12T11:59:59.999'))).toEqual(at('12T08:00:00'));
    expect(reconciledThrough(at('12T12:00:00'))).toEqual(at('12T09:00:00'));
  });

  it('reconciledThrough returns the start of the newest final hour', () => {
    fc.assert(
      fc.property(
        fc.date({ min: at('01T00:00:00'), max: at('30T00:00:00'), noInvalidDate: true }),
        (now) => {
          const newest = reconciledThrough(now);
          const age = now.getTime() - newest.getTime();
          expect(age).toBeGreaterThanOrEqual(3 * 3_600_000);
          expect(age).toBeLessThan(4 * 3_600_000);
          expect(hourOf(newest)).toEqual(newest);
        },
      ),
    );
  });

  it('countHoursClosed counts the final hours of a day', () => {
    expect(countHoursClosed('2026-11-12', at('12T02:59:00'))).toBe(0);
    expect(countHoursClosed('2026-11-12', at('12T03:00:00'))).toBe(1);
    expect(countHoursClosed('2026-11-12', at('13T00:20:00'))).toBe(22);
    expect(countHoursClosed('2026-11-12', at('13T02:00:00'))).toBe(24);
    expect(countHoursClosed('2026-11-12', at('20T00:00:00'))).toBe(24);
    expect(countHoursClosed('2026-11-12', at('01T00:00:00'))).toBe(0);
  });

  it('the daily charge recomputes the last three days, across months, and reconciliation seven', () => {
    expect(chargedDays(at('02T00:20:00'))).toEqual(['2026-10-30', '2026-10-31', '2026-11-01']);
    expect(reconciliationDays(at('07T23:59:59'))).toHaveLength(7);
    expect(reconciliationDays(at('07T23:59:59')).at(-1)).toBe('2026-11-07');
    expect(dayOf(at('07T23:59:59.999'))).toBe('2026-11-07');
  });

  it('an organization is over quota at a balance of zero or below', () => {
    expect([1, 0, -1].map(isOverQuota)).toEqual([false, true, true]);
  });
});
