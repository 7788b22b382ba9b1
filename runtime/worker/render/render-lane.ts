/** A worker's renders: calls from the queue, run in turn, in their own decoders. Spec: Delivery host. */
import { availableParallelism } from 'node:os';
import { RENDER_DEADLINE_SECONDS } from '../../core/limits.ts';
import type { Lane, LaneOptions, WorkerOptions } from '../lanes.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createDerivedRenders } from './render-derived.ts';
import { readPreview, renderPreview } from './render-preview.ts';
import { createRenderScheduler } from './render-scheduler.ts';

/** The decoder gives up before the caller does, so that the slot is free for the next render. */
const RENDER_LANE: LaneOptions = {
  slots: availableParallelism(),
  wall_clock_ms: (RENDER_DEADLINE_SECONDS - 1) * 1000,
  memory_bytes: 1_073_741_824,
  jobs_per_child: 500,
};
const WAITING_MAX = 64;
/** A viewer who would wait longer is told when to come again. */
const WAIT_MS_MAX = 2500;
/** The initial factor on estimates; a fresh worker learns the real one from its first renders. */
const FIRST_PACE = 2;
/** How many renders read their source from the store while all slots are busy. */
const READ_AHEAD = 1;
const REFUSED_AT_ONCE = 16;

export async function startRenderLane(options: WorkerOptions): Promise<Lane> {
  const { queue, log, metrics } = options;
  const lane = { ...RENDER_LANE, ...options.render };
  const bounds = {
    slots: lane.slots,
    reading_ahead: READ_AHEAD,
    waiting_max: options.render_waiting_max ?? WAITING_MAX,
    wait_ms_max: WAIT_MS_MAX,
    deadline_ms: lane.wall_clock_ms,
    first_pace: FIRST_PACE,
  };
  const sandbox = createSandbox({ ...lane, log, onKilled: (why) => metrics?.decoderKilled(why) });
  const { content } = options.buckets;
  const deps = { ...options, content, sandbox, scheduler: createRenderScheduler(bounds) };
  const renders = createDerivedRenders({ ...deps, wall_clock_ms: lane.wall_clock_ms });
  const answer = (payload: unknown, signal: AbortSignal) => {
    const preview = readPreview(payload);
    return preview ? renderPreview(deps, preview, signal) : renders.answer(payload, signal);
  };
  // Accepts more calls than may wait: the scheduler decides whose turn it is, and refuses the rest at
  // once.
  const slots = bounds.slots + READ_AHEAD + bounds.waiting_max + REFUSED_AT_ONCE;
  const calls = await queue.serve('render', { slots, waiting_max: 0 }, answer);
  return {
    stop: async () => {
      await calls.stop();
      await renders.drained();
      await sandbox.close();
    },
  };
}
