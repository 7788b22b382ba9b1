/**
 * Who renders next, decided before a byte is read. Projects share the time of the slots fairly, by what their renders
 * cost; heavy renders leave a slot to the others; who would wait too long is refused at once, with the time after which
 * its turn would have come. Spec: Delivery refusals in checking order, busy.
 */
import {
  admitRender,
  renderWaitMs,
  retryAfterSeconds,
} from '../../core/delivery/render-admission.ts';
import { QueueBusy } from '../../platform/queue/queue.ts';
import { createRenderPace, type Estimate } from './render-pace.ts';
import {
  createRenderSeats,
  type LeaveSeat,
  type RenderSeats,
  type WarmSeat,
} from './render-seats.ts';
import { createTurns, type Turns } from './turns.ts';

export type RenderLine = {
  /**
   * Resolves when its turn has come, with the way to end it. Throws QueueBusy where it would wait too long, had to make
   * room for a project that has less or could not end in time any more, else the signal's reason.
   */
  enter(ticket: Ticket, signal: AbortSignal): Promise<LeaveSeat>;
  /**
   * For what nobody waits for: only while nobody waits, leaving a slot free where there are several. Throws QueueBusy
   * where that is not so now.
   */
  enterWarm(ticket: Ticket): WarmSeat;
};

export type Ticket = { project_id: string; cost_ms: number };
export type LineOptions = {
  /** Renders at a time. */
  slots: number;
  /** Renders beyond them that read their source meanwhile. */
  reading_ahead?: number;
  /** All that wait, of all projects together. */
  waiting_max: number;
  /** The longest wait that a newcomer is let in for; unless said, any that the deadline allows. */
  wait_ms_max?: number;
  /** From entering to the end of the render. */
  deadline_ms: number;
  /** How many times its estimate a render is taken to need before any has ended; unless said, once. */
  first_pace?: number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
};

/** `cost_ms` as this machine takes it, `estimate` as it was estimated. */
type Waiter = Ticket & { estimate: Estimate; start(): void; refuse(reason: unknown): void };

/** By its estimate: more than a viewer should wait for another's. */
const HEAVY_MS_MIN = 400;

export function createRenderLine(options: LineOptions): RenderLine {
  const { slots, reading_ahead = 0, first_pace = 1, now = () => performance.now() } = options;
  const turns = createTurns<Waiter>();
  const pace = createRenderPace({ slots, first_pace, now });
  const next = () => {
    while (seats.isFree('light')) {
      const mayBeHeavy = seats.isFree('heavy');
      const waiter = turns.take(({ estimate }) => mayBeHeavy || estimate.weight === 'light');
      if (waiter === undefined) return;
      waiter.start();
    }
  };
  const seats = createRenderSeats({ slots, reading_ahead, pace, onLeave: next });
  const gate = createGate({ turns, seats }, options);
  return {
    enter: async (ticket, signal) => {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<LeaveSeat>();
      const estimate = estimateOf(ticket);
      const waiter: Waiter = {
        project_id: ticket.project_id,
        cost_ms: pace.ms(estimate),
        estimate,
        start: () => resolve(seats.take(estimate)),
        refuse: reject,
      };
      gate.admit(waiter);
      turns.add(waiter);
      next();
      // A seat that only reads ahead is no slot: a warm render in one of those is in the way.
      if (!seats.isFree('light') || turns.size() > 0) seats.stopOneWarm();
      const beginIn_ms = Math.max(0, options.deadline_ms - waiter.cost_ms);
      const beginBy = setTimeout(() => {
        if (turns.remove(waiter)) reject(gate.busyNow(waiter));
      }, beginIn_ms);
      return orAborted(promise, signal, () => {
        if (turns.remove(waiter)) reject(signal.reason);
      }).finally(() => clearTimeout(beginBy));
    },
    enterWarm: (ticket) => {
      if (turns.size() === 0 && seats.isIdle()) return seats.takeWarm();
      throw busyFor(seats.leftMs() + pace.ms(estimateOf(ticket)));
    },
  };
}

/** Who may wait: admitted by time, and where there is no room by what its project has waiting already. */
function createGate(
  { turns, seats }: { turns: Turns<Waiter>; seats: RenderSeats },
  { waiting_max, deadline_ms, wait_ms_max = deadline_ms }: LineOptions,
) {
  const queueBefore = (waiter: Waiter) => ({
    ahead_ms: seats.leftMs() + turns.costAhead(waiter),
    own_ms: waiter.cost_ms,
    slots: seats.slotsOf(waiter.estimate.weight),
  });
  const busyNow = (waiter: Waiter) => busyFor(renderWaitMs(queueBefore(waiter)));
  const makeRoom = (waiter: Waiter) => {
    if (turns.size() < waiting_max) return true;
    const { cost_ms, last } = turns.longest();
    const isOwn = turns.costOf(waiter.project_id) + waiter.cost_ms >= cost_ms;
    if (isOwn || last === undefined) return false;
    turns.remove(last);
    last.refuse(busyNow(last));
    return true;
  };
  return {
    busyNow,
    /** Throws QueueBusy for who may not. */
    admit: (waiter: Waiter) => {
      if (seats.isFree(waiter.estimate.weight)) return;
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

async function orAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  onAbort: () => void,
): Promise<T> {
  signal.addEventListener('abort', onAbort, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', onAbort));
}
