import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../../../runtime/worker/sandbox/admission.ts';
import { createJobAdmission } from '../../../../runtime/worker/sandbox/job-admission.ts';

/** Requests all sizes at once, and records the order of admission. */
function askAll(memory_bytes: number, sizes: readonly number[]) {
  const admission = createAdmission({ memory_bytes });
  const inside = new Map<number, () => void>();
  const order: number[] = [];
  for (const [index, size] of sizes.entries()) {
    void admission.enter(size).then((leave) => {
      inside.set(index, leave);
      order.push(index);
    });
  }
  return { inside, order };
}

describe('admission by memory', () => {
  it('admits no more than fits, except for a single large job, and admits every job once', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.infiniteStream(fc.nat()), async (asked, choices) => {
        const { inside, order } = askAll(100, asked);
        await turn();
        while (inside.size > 0) {
          const bytes = [...inside.keys()].reduce((sum, index) => sum + (asked[index] ?? 0), 0);
          if (inside.size > 1) expect(bytes).toBeLessThanOrEqual(100);
          const [index, leave] =
            [...inside][Number(choices.next().value) % inside.size] ?? expect.fail('nobody inside');
          inside.delete(index);
          leave();
          await turn();
        }
        expect(order.toSorted((a, b) => a - b)).toEqual(asked.map((_, index) => index));
      }),
      { numRuns: 50 },
    );
  });

  it('lets small jobs pass a large one, but only a limited number of times', async () => {
    const { inside, order } = askAll(100, [60, 90, ...Array.from({ length: 40 }, () => 30)]);
    await turn();
    expect(order).toEqual([0, 2]);
    // The large one may be passed by eight others, and then waits for those inside to leave.
    while (!inside.has(1)) {
      const [index, leave] = [...inside].at(-1) ?? expect.fail('nobody inside');
      inside.delete(index);
      leave();
      await turn();
    }
    expect(order.indexOf(1)).toBeLessThanOrEqual(9);
  });

  it('drops a job that is aborted, and admits the next', async () => {
    const admission = createAdmission({ memory_bytes: 100 });
    const leave = await admission.enter(100);
    const stop = new AbortController();
    const given = admission.enter(100, stop.signal);
    stop.abort(new Error('not needed any more'));
    await expect(given).rejects.toThrow('not needed any more');
    leave();
    leave();
    await admission.enter(100);
  });
});

it('a job that ends while it waits for memory does not block the jobs behind it', async () => {
  const admission = createAdmission({ memory_bytes: 100 });
  await admission.enter(60);
  const entry = createJobAdmission({ admission, memory_bytes: 100 }, undefined);
  const asked = entry.ask({ memory_bytes: 90, wall_clock_ms: 1000 });
  entry.leave();
  await asked;
  // More entries than may pass one that waits.
  for (let passed = 0; passed < 20; passed += 1) (await admission.enter(10))();
});
