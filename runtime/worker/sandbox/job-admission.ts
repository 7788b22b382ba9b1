/** One job's way through the admission, and its wall clock, which pauses while it waits for room. */
import { z } from 'zod';
import type { Admission } from './admission.ts';
import { FrameError } from './frames.ts';
import { SandboxFailure } from './sandbox-failure.ts';
import type { JobCost } from './serve-jobs.ts';

export function createJobAdmission(
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
    /** False when the job would need more memory than its slot may have. */
    ask: async (cost: JobCost): Promise<boolean> => {
      if (state.hasAsked) throw new SandboxFailure('garbage', 'a job was estimated twice');
      state.hasAsked = true;
      if (cost.memory_bytes > memory_bytes) return false;
      leave = (await admission?.enter(cost.memory_bytes, waited).catch(unlessEnded)) ?? leave;
      if (ended.signal.aborted) leave();
      return true;
    },
    /** A job that still waits gives up its place in the queue. */
    leave: () => {
      ended.abort();
      leave();
    },
  };
}

/** The maximum of additional time for having waited for a core, in multiples of the job's limit. */
const STARVED_SHARE_MAX = 3;

/**
 * Counts down from the longest time of a job, which an estimate can only shorten. `starved` returns
 * the total time of waiting for a core, which does not count.
 */
export function createClock(
  longestMs: number,
  onTimeout: (reason: SandboxFailure) => void,
  starved: () => number = () => 0,
) {
  const state = { limit: longestMs, starvedBefore: 0, given: 0 };
  let timer: NodeJS.Timeout | undefined;
  const startTimer = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(onTimer, ms);
  };
  const onTimer = () => {
    const { limit, starvedBefore, given } = state;
    const owed = Math.min(starved() - starvedBefore, limit * STARVED_SHARE_MAX) - given;
    if (owed < 1) return onTimeout(new SandboxFailure('timeout', `no answer within ${limit} ms`));
    state.given += owed;
    startTimer(owed);
  };
  return {
    start: (ms = longestMs) => {
      Object.assign(state, { limit: Math.min(ms, longestMs), starvedBefore: starved(), given: 0 });
      startTimer(state.limit);
    },
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
    },
    refresh: () => void (timer && startTimer(state.limit)),
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
