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
  const state = { hasAsked: false, hasEnded: false };
  return {
    /** False where the job would need more than its slot may have. */
    ask: async (cost: JobCost): Promise<boolean> => {
      if (state.hasAsked) throw new SandboxFailure('garbage', 'a job was estimated twice');
      state.hasAsked = true;
      if (cost.memory_bytes > memory_bytes) return false;
      leave = (await admission?.enter(cost.memory_bytes, signal)) ?? leave;
      if (state.hasEnded) leave();
      return true;
    },
    leave: () => {
      state.hasEnded = true;
      leave();
    },
  };
}

/** Counts down from the longest that a job may take; an estimate can only make it shorter. */
export function startClock(longestMs: number, onTimeout: (reason: SandboxFailure) => void) {
  let timer: NodeJS.Timeout | undefined;
  const start = (ms: number) => {
    const limit = Math.min(ms, longestMs);
    timer = setTimeout(() => {
      onTimeout(new SandboxFailure('timeout', `no answer within ${limit} ms`));
    }, limit);
  };
  start(longestMs);
  return {
    start,
    stop: () => clearTimeout(timer),
    refresh: () => void timer?.refresh(),
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
