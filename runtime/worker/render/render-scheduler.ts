/**
 * Decides who renders next, before a byte is read. Projects share the time of the slots fairly, by the cost of their
 * renders; heavy renders leave a slot for light ones; a render that would wait too long is refused at once, with the
 * time when its turn would have come. Spec: Delivery refusals in checking order, busy.
 */
import {
  admitRender,
  renderWaitMs,
  retryAfterSeconds,
} from '../../core/delivery/render-admission.ts';
import { QueueBusy } from '../../platform/queue/queue.ts';
import { withAbortHandler } from '../../platform/with-abort-handler.ts';
import { createFairQueue, type FairQueue } from './fair-queue.ts';
import { createRenderPace, type Estimate } from './render-pace.ts';
import {
  createRenderPermits,
  type ReleasePermit,
  type RenderPermits,
  type WarmRenderPermit,
} from './render-permits.ts';

export type RenderScheduler = {
  /**
   * Resolves when the render's turn has come, with the function that ends it. Throws QueueBusy when
   * the wait would be too long, when it had to make room for a project with less waiting work, or
   * when it can no longer finish in time; otherwise the signal's reason.
   */
  enter(ticket: Ticket, signal: AbortSignal): Promise<ReleasePermit>;
  /**
   * For renders that nobody waits for: only while nobody waits, and leaving a slot free if there
   * are several. Throws QueueBusy otherwise.
   */
  enterWarm(ticket: Ticket): WarmRenderPermit;
};

export type Ticket = { project_id: string; cost_ms: number };
export type RenderSchedulerOptions = {
  /** How many renders run at a time. */
  slots: number;
  /** How many further renders read their source meanwhile. */
  reading_ahead?: number;
  /** How many may wait, for all projects together. */
  waiting_max: number;
  /** The longest wait for which a new render is admitted; default: any that the deadline allows. */
  wait_ms_max?: number;
  /** From entering to the end of the render. */
  deadline_ms: number;
  /** The factor on estimates before any render has ended; default 1. */
  first_pace?: number;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
};

/** `cost_ms`: the cost on this machine; `estimate`: the original estimate. */
type Waiter = Ticket & { estimate: Estimate; start(): void; refuse(reason: unknown): void };

/** By estimate: longer than a viewer should wait for another's render. */
const HEAVY_MS_MIN = 400;

export function createRenderScheduler(options: RenderSchedulerOptions): RenderScheduler {
  const { slots, reading_ahead = 0, first_pace = 1, now = () => performance.now() } = options;
  const queue = createFairQueue<Waiter>();
  const pace = createRenderPace({ slots, first_pace, now });
  const next = () => {
    while (permits.isFree('light')) {
      const mayBeHeavy = permits.isFree('heavy');
      const waiter = queue.take(({ estimate }) => mayBeHeavy || estimate.weight === 'light');
      if (waiter === undefined) return;
      waiter.start();
    }
  };
  const permits = createRenderPermits({ slots, reading_ahead, pace, onRelease: next });
  const gate = createGate({ queue, permits }, options);
  return {
    enter: async (ticket, signal) => {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<ReleasePermit>();
      const estimate = estimateOf(ticket);
      const waiter: Waiter = {
        project_id: ticket.project_id,
        cost_ms: pace.ms(estimate),
        estimate,
        start: () => resolve(permits.acquire(estimate)),
        refuse: reject,
      };
      gate.admit(waiter);
      queue.add(waiter);
      next();
      // A permit for reading ahead is not a slot: a warm render in one is in the way.
      if (!permits.isFree('light') || queue.size() > 0) permits.stopOneWarm();
      const beginIn_ms = Math.max(0, options.deadline_ms - waiter.cost_ms);
      const beginBy = setTimeout(() => {
        if (queue.remove(waiter)) reject(gate.busyNow(waiter));
      }, beginIn_ms);
      return withAbortHandler(promise, signal, () => {
        if (queue.remove(waiter)) reject(signal.reason);
      }).finally(() => clearTimeout(beginBy));
    },
    enterWarm: (ticket) => {
      if (queue.size() === 0 && permits.isIdle()) return permits.acquireWarm();
      throw busyFor(permits.leftMs() + pace.ms(estimateOf(ticket)));
    },
  };
}

/**
 * Decides who may wait: by time, and, when there is no room, by how much work the project already
 * has waiting.
 */
function createGate(
  { queue, permits }: { queue: FairQueue<Waiter>; permits: RenderPermits },
  { waiting_max, deadline_ms, wait_ms_max = deadline_ms }: RenderSchedulerOptions,
) {
  const queueBefore = (waiter: Waiter) => ({
    ahead_ms: permits.leftMs() + queue.costAhead(waiter),
    own_ms: waiter.cost_ms,
    slots: permits.slotsOf(waiter.estimate.weight),
  });
  const busyNow = (waiter: Waiter) => busyFor(renderWaitMs(queueBefore(waiter)));
  const makeRoom = (waiter: Waiter) => {
    if (queue.size() < waiting_max) return true;
    const { cost_ms, last } = queue.longest();
    const isOwn = queue.costOf(waiter.project_id) + waiter.cost_ms >= cost_ms;
    if (isOwn || last === undefined) return false;
    queue.remove(last);
    last.refuse(busyNow(last));
    return true;
  };
  return {
    busyNow,
    /** Throws QueueBusy for a render that may not wait. */
    admit: (waiter: Waiter) => {
      if (permits.isFree(waiter.estimate.weight)) return;
      const admission = admitRender(queueBefore(waiter), { wait_ms_max, deadline_ms });
      if (!admission.admitted) throw new QueueBusy('render', admission.retry_after_seconds);
      if (!makeRoom(waiter)) throw busyNow(waiter);
    },
  };
}

function estimateOf({ cost_ms }: Ticket): Estimate {
  return { cost_ms, weight: cost_ms < HEAVY_MS_MIN ? 'light' : 'heavy' };
}

function busyFor(waitMs: number): QueueBusy {
  return new QueueBusy('render', retryAfterSeconds(waitMs));
}
