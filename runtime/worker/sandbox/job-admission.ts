/** One job's way past the admission, and its wall clock, which stands still while it waits for room. */
import { z } from 'zod';
import type { Admission } from './admission.ts';
import { FrameError } from './frames.ts';
import { SandboxFailure } from './sandbox-failure.ts';
import type { JobCost } from './serve-jobs.ts';

export function createEntry(
  { admission, memory_bytes }: { admission?: Admission; memory_bytes: number },
  signal: AbortSignal | undefined,
) {
  let leave: () => void = () => undefined;
  const state = { hasAsked: false };
  const ended = new AbortController();
  const waited = AbortSignal.any([ended.signal, ...(signal === undefined ? [] : [signal])]);
  const unlessEnded = (error: unknown) => {
    if (!ended.signal.aborted) throw error;
    return undefined;
  };
  return {
    /** False where the job would need more than its slot may have. */
    ask: async (cost: JobCost): Promise<boolean> => {
      if (state.hasAsked) throw new SandboxFailure('garbage', 'a job was estimated twice');
      state.hasAsked = true;
      if (cost.memory_bytes > memory_bytes) return false;
      leave = (await admission?.enter(cost.memory_bytes, waited).catch(unlessEnded)) ?? leave;
      if (ended.signal.aborted) leave();
      return true;
    },
    /** One that still waits keeps nobody behind it waiting. */
    leave: () => {
      ended.abort();
      leave();
    },
  };
}

/** Times the limit of a job, at most, that it is given besides for having waited for a core. */
const STARVED_SHARE_MAX = 3;

/**
 * Counts down from the longest that a job may take; an estimate can only make it shorter. `starved`: how long in all it
 * has waited for a core, which does not count.
 */
export function createClock(
  longestMs: number,
  onTimeout: (reason: SandboxFailure) => void,
  starved: () => number = () => 0,
) {
  const state = { limit: longestMs, starvedBefore: 0, given: 0 };
  let timer: NodeJS.Timeout | undefined;
  const ringAfter = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(ring, ms);
  };
  const ring = () => {
    const { limit, starvedBefore, given } = state;
    const owed = Math.min(starved() - starvedBefore, limit * STARVED_SHARE_MAX) - given;
    if (owed < 1) return onTimeout(new SandboxFailure('timeout', `no answer within ${limit} ms`));
    state.given += owed;
    ringAfter(owed);
  };
  return {
    start: (ms = longestMs) => {
      Object.assign(state, { limit: Math.min(ms, longestMs), starvedBefore: starved(), given: 0 });
      ringAfter(state.limit);
    },
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
    },
    refresh: () => void (timer && ringAfter(state.limit)),
  };
}

const costSchema = z.object({
  memory_bytes: z.number().positive(),
  wall_clock_ms: z.number().positive(),
});

export function parseCost(value: unknown): JobCost {
  const cost = costSchema.safeParse(value);
  if (!cost.success) throw new FrameError('a cost makes no sense');
  return cost.data;
}
