import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QueueBusy } from '../../../../runtime/platform/queue/queue.ts';
import type { ReleasePermit } from '../../../../runtime/worker/render/render-permits.ts';
import {
  createRenderScheduler,
  type RenderScheduler,
  type RenderSchedulerOptions,
} from '../../../../runtime/worker/render/render-scheduler.ts';

const never = new AbortController().signal;
const COST_MAX = 1500;
const bounds = { wait_ms_max: 2500, deadline_ms: 14_000, waiting_max: 64 };

type Arrival = { project_id: string; cost_ms: number; after_ms: number };
type Outcome = Arrival & { at: number; waited?: number; retry_after_seconds?: number };

const arrivals = (projects: readonly string[]) =>
  fc.array(
    fc.record({
      project_id: fc.constantFrom(...projects),
      cost_ms: fc.integer({ min: 10, max: COST_MAX }),
      after_ms: fc.integer({ min: 0, max: 400 }),
    }),
    { maxLength: 60 },
  );
const slots = fc.integer({ min: 1, max: 4 });

describe('the render queue under random load', () => {
  it('makes a single project wait no longer than the limit plus one render', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals(['a']), slots, async (all, count) => {
        for (const { waited = 0 } of await play(all, { ...bounds, slots: count })) {
          expect(waited).toBeLessThanOrEqual(bounds.wait_ms_max + COST_MAX);
        }
      }),
    );
  });

  it('ends every admitted render of five projects before its deadline', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals(['a', 'b', 'c', 'd', 'e']), slots, async (all, count) => {
        for (const { waited = 0, cost_ms } of await play(all, { ...bounds, slots: count })) {
          expect(waited + cost_ms).toBeLessThanOrEqual(bounds.deadline_ms);
        }
      }),
    );
  });

  it('refuses no render while the expected wait is below the limit', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals(['a', 'b']), slots, async (all, count) => {
        const outcomes = await play(all, { ...bounds, slots: count });
        const [first] = outcomes;
        expect(first?.retry_after_seconds).toBeUndefined();
        const refused = outcomes.filter((one) => one.retry_after_seconds !== undefined);
        const wait = (one: Outcome) => (one.retry_after_seconds ?? 0) * 1000;
        // Rounded up to seconds: a request is rejected only if the wait exceeds the bound.
        for (const one of refused) expect(wait(one)).toBeGreaterThanOrEqual(bounds.wait_ms_max);
      }),
    );
  });
});

/** Simulates the arrivals. Every render takes exactly its estimated time. */
async function play(all: readonly Arrival[], options: RenderSchedulerOptions): Promise<Outcome[]> {
  const world = createWorld();
  const line = createRenderScheduler({ ...options, now: () => world.now });
  const outcomes: Outcome[] = [];
  for (const arrival of all) {
    await world.run(world.now + arrival.after_ms);
    outcomes.push(arrive(line, world, arrival));
    await settle();
  }
  await world.run(Number.POSITIVE_INFINITY);
  return outcomes;
}

type World = ReturnType<typeof createWorld>;

function createWorld() {
  const ends: { at: number; leave: ReleasePermit }[] = [];
  const world = {
    now: 0,
    endAt: (at: number, leave: ReleasePermit) => void ends.push({ at, leave }),
    run: async (until: number) => {
      for (;;) {
        ends.sort((one, other) => one.at - other.at);
        const [first] = ends;
        if (first === undefined || first.at > until) break;
        ends.shift();
        world.now = first.at;
        first.leave('rendered');
        await settle();
      }
      if (until !== Number.POSITIVE_INFINITY) world.now = until;
    },
  };
  return world;
}

function arrive(line: RenderScheduler, world: World, arrival: Arrival): Outcome {
  const outcome: Outcome = { ...arrival, at: world.now };
  line.enter(arrival, never).then(
    (leave) => {
      outcome.waited = world.now - outcome.at;
      world.endAt(world.now + arrival.cost_ms, leave);
    },
    (error: unknown) => {
      if (!(error instanceof QueueBusy)) throw error;
      outcome.retry_after_seconds = error.retry_after_seconds;
    },
  );
  return outcome;
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
