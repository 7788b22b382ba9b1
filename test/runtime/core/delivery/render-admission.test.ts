import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admitRender } from '../../../../runtime/core/delivery/render-admission.ts';

const bounds = { wait_ms_max: 2500, deadline_ms: 14_000 };

describe('a render that finds no free slot', () => {
  it.each([
    { ahead_ms: 0, own_ms: 20, slots: 1 },
    { ahead_ms: 2500, own_ms: 20, slots: 1 },
    { ahead_ms: 5000, own_ms: 20, slots: 2 },
    { ahead_ms: 20_000, own_ms: 20, slots: 8 },
    { ahead_ms: 2500, own_ms: 11_500, slots: 1 },
  ])('is admitted behind $ahead_ms ms of work on $slots slots', (queue) => {
    expect(admitRender(queue, bounds)).toEqual({ admitted: true });
  });

  it.each([
    [{ ahead_ms: 2501, own_ms: 20, slots: 1 }, 3],
    [{ ahead_ms: 3000, own_ms: 20, slots: 1 }, 3],
    [{ ahead_ms: 3001, own_ms: 20, slots: 1 }, 4],
    [{ ahead_ms: 5001, own_ms: 20, slots: 2 }, 3],
    [{ ahead_ms: 60_000, own_ms: 20, slots: 4 }, 15],
    [{ ahead_ms: 900_000, own_ms: 20, slots: 1 }, 30],
    // Would begin in time, but not end before the deadline.
    [{ ahead_ms: 2500, own_ms: 11_501, slots: 1 }, 3],
    [{ ahead_ms: 10, own_ms: 14_000, slots: 1 }, 1],
  ])('is rejected for %o, with a retry after %d s', (queue, retry_after_seconds) => {
    expect(admitRender(queue, bounds)).toEqual({ admitted: false, retry_after_seconds });
  });

  it('is admitted after the given wait if no other render has arrived', () => {
    const ms = fc.integer({ min: 0, max: 60_000 });
    const slots = fc.integer({ min: 1, max: 16 });
    fc.assert(
      fc.property(ms, fc.integer({ min: 1, max: 13_000 }), slots, (ahead_ms, own_ms, count) => {
        const queue = { ahead_ms, own_ms, slots: count };
        const admission = admitRender(queue, bounds);
        if (admission.admitted) return;
        const done = admission.retry_after_seconds * 1000 * count;
        const later = { ...queue, ahead_ms: Math.max(0, ahead_ms - done) };
        const isCapped = admission.retry_after_seconds === 30;
        expect(isCapped || admitRender(later, bounds).admitted).toBe(true);
      }),
    );
  });

  it('is not admitted behind more work or with fewer slots than when it was rejected', () => {
    const ms = fc.integer({ min: 0, max: 60_000 });
    fc.assert(
      fc.property(ms, ms, fc.integer({ min: 1, max: 8 }), (ahead_ms, more, slots) => {
        const refused = !admitRender({ ahead_ms, own_ms: 20, slots: slots + 1 }, bounds).admitted;
        const worse = admitRender({ ahead_ms: ahead_ms + more, own_ms: 20, slots }, bounds);
        expect(refused && worse.admitted).toBe(false);
      }),
    );
  });
});
