import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideScale,
  desiredReplicas,
  recommendedReplicas,
} from '../../../operator/scaler/decide-scale.ts';

const STABLE_MS = 300_000;
const pool = { min: 1, max: 8, queue_length: 10, stable_seconds: STABLE_MS / 1000 };
const idle = { waiting: 0, in_hand: 0, busy_pods: 0 };
const now_ms = 1_000_000;

function scaled(
  load: Partial<typeof idle>,
  past: { current: number; recommendations?: [number, number][] },
) {
  const recommendations = (past.recommendations ?? [[now_ms - 1, 0]]).map(([at_ms, replicas]) => ({
    at_ms,
    replicas,
  }));
  const { current } = past;
  return decideScale(pool, { ...idle, ...load }, { recommendations, current, now_ms }).replicas;
}

describe('the number of workers', () => {
  it.each([
    ['an empty queue', {}, 1],
    ['a queue that one worker can handle', { waiting: 10 }, 1],
    ['a queue that is one too long for one worker', { waiting: 11 }, 2],
    ['uploads in progress as it does waiting ones', { waiting: 5, in_hand: 6 }, 2],
    ['a queue for more than the maximum of pods', { waiting: 10_000 }, 8],
  ])('follows %s', (_name, load, wanted) => {
    expect(recommendedReplicas(pool, { ...idle, ...load })).toBe(wanted);
  });

  it('is clamped to min and max, unlike the demand of the load', () => {
    expect(desiredReplicas(pool, { ...idle, waiting: 10_000 })).toBe(1000);
    expect(desiredReplicas(pool, idle)).toBe(0);
  });

  it('grows immediately', () => {
    expect(scaled({ waiting: 35 }, { current: 1 })).toBe(4);
  });

  it('shrinks to the highest demand within the stabilization window', () => {
    expect(scaled({}, { current: 6, recommendations: [[now_ms - 60_000, 4]] })).toBe(4);
    expect(
      scaled(
        {},
        {
          current: 6,
          recommendations: [
            [now_ms - STABLE_MS, 4],
            [now_ms - 1, 2],
          ],
        },
      ),
    ).toBe(2);
  });

  it('stays as it is on the first look', () => {
    expect(scaled({}, { current: 6, recommendations: [] })).toBe(6);
  });

  it('never falls below the number of busy pods', () => {
    expect(scaled({ in_hand: 3, busy_pods: 3 }, { current: 5 })).toBe(3);
    const { replicas } = decideScale(
      { ...pool, max: 2 },
      { ...idle, busy_pods: 4 },
      { recommendations: [{ at_ms: now_ms - 1, replicas: 1 }], current: 5, now_ms },
    );
    expect(replicas).toBe(4);
  });

  it('never exceeds max by itself, and never shrinks below demand or busy pods, whatever the load', () => {
    const load = fc.record({ waiting: fc.nat(500), in_hand: fc.nat(50), busy_pods: fc.nat(8) });
    const recommendations = fc.array(
      fc.record({
        at_ms: fc.integer({ min: 0, max: now_ms }),
        replicas: fc.integer({ min: 1, max: 8 }),
      }),
    );
    fc.assert(
      fc.property(load, recommendations, fc.nat(8), (seen, past, current) => {
        const { replicas } = decideScale(pool, seen, { recommendations: past, current, now_ms });
        expect(replicas).toBeLessThanOrEqual(Math.max(pool.max, current));
        if (replicas < current) expect(replicas).toBeGreaterThanOrEqual(seen.busy_pods);
        if (replicas < current)
          expect(replicas).toBeGreaterThanOrEqual(recommendedReplicas(pool, seen));
        if (current < recommendedReplicas(pool, seen))
          expect(replicas).toBe(recommendedReplicas(pool, seen));
      }),
    );
  });
});
