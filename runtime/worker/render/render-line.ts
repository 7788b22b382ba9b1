/**
 * Who renders next, decided before a byte is read. Projects share the time of the slots fairly, by what their renders
 * cost; heavy renders leave a slot to the others; what could not end in time is refused at once, with the time after
 * which it would be taken. Spec: Delivery refusals in checking order, busy.
 */
import { QueueBusy } from '../../platform/queue/queue.ts';
import { createTurns } from './turns.ts';

export type RenderLine = {
  /**
   * Resolves when its turn has come, with the way to end it. Throws QueueBusy where it would wait too long or had to
   * make room for a project that has less, else the signal's reason.
   */
  enter(ticket: Ticket, signal: AbortSignal): Promise<() => void>;
  /**
   * For what nobody waits for: only while nobody waits, leaving a slot free where there are several. Throws QueueBusy
   * where that is not so now; `stopped` says that somebody came who needs the slot.
   */
  enterWarm(ticket: Ticket): { leave(): void; stopped: AbortSignal };
};

export type Ticket = { project_id: string; cost_ms: number };
export type LineOptions = {
  /** Renders at a time. */
  slots: number;
  /** All that wait, of all projects together. */
  waiting_max: number;
  /** From entering to the end of the render. */
  deadline_ms: number;
};

type Waiter = Ticket & { isHeavy: boolean; start(): void; refuse(reason: unknown): void };

/** By its estimate: more than a viewer should wait for another's. */
const HEAVY_MS_MIN = 400;
const RETRY_SECONDS_MAX = 30;

export function createRenderLine({ slots, waiting_max, deadline_ms }: LineOptions): RenderLine {
  const heavySlots = Math.max(1, slots - 1);
  const turns = createTurns<Waiter>();
  const pace = createPace();
  const running = new Set<Waiter>();
  const hasHeavySlot = () => [...running].filter((one) => one.isHeavy).length < heavySlots;
  const next = () => {
    while (running.size + warm.size() < slots) {
      const mayBeHeavy = hasHeavySlot();
      const waiter = turns.take(({ isHeavy }) => mayBeHeavy || !isHeavy);
      if (waiter === undefined) return;
      running.add(waiter);
      waiter.start();
    }
  };
  const warm = createWarmSeats(() => next());
  const begin = (waiter: Waiter, startedAt = performance.now()) => {
    return () => {
      if (!running.delete(waiter)) return;
      pace.took(performance.now() - startedAt, waiter.cost_ms);
      next();
    };
  };
  const isFree = ({ isHeavy }: Waiter) => running.size < slots && (!isHeavy || hasHeavySlot());
  const waitMs = (waiter: Waiter) =>
    pace.ms(runningMs(running) + turns.costAhead(waiter)) / (waiter.isHeavy ? heavySlots : slots);
  const makeRoom = (waiter: Waiter) => {
    if (turns.size() < waiting_max) return true;
    const longest = turns.longest();
    const isOwn = turns.costOf(waiter.project_id) + waiter.cost_ms >= longest.cost_ms;
    if (isOwn || longest.last === undefined) return false;
    turns.remove(longest.last);
    longest.last.refuse(refusal(waitMs(longest.last)));
    return true;
  };

  return {
    enter: async (ticket, signal) => {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const waiter: Waiter = {
        ...ticket,
        isHeavy: ticket.cost_ms >= HEAVY_MS_MIN,
        start: () => resolve(begin(waiter)),
        refuse: reject,
      };
      const wait = isFree(waiter) ? 0 : waitMs(waiter);
      const isLate = wait + pace.ms(waiter.cost_ms) > deadline_ms;
      if (wait > 0 && (isLate || !makeRoom(waiter))) throw refusal(wait);
      turns.add(waiter);
      next();
      // One of the slots only reads ahead: a warm render in the others is in the way.
      if (running.size + warm.size() >= slots || turns.size() > 0) warm.stopOne();
      return orAborted(promise, signal, () => {
        if (turns.remove(waiter)) reject(signal.reason);
      });
    },
    enterWarm: ({ cost_ms }) => {
      const isIdle = turns.size() === 0 && running.size + warm.size() < Math.max(1, slots - 1);
      if (isIdle) return warm.enter();
      throw refusal(pace.ms(runningMs(running) + cost_ms));
    },
  };
}

function refusal(waitMs: number): QueueBusy {
  return new QueueBusy(
    'render',
    Math.min(Math.max(1, Math.ceil(waitMs / 1000)), RETRY_SECONDS_MAX),
  );
}

async function orAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  onAbort: () => void,
): Promise<T> {
  signal.addEventListener('abort', onAbort, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', onAbort));
}

/** Who renders what nobody waits for, each with the way to stop it. */
function createWarmSeats(onLeave: () => void) {
  const seats = new Set<AbortController>();
  return {
    size: () => seats.size,
    enter: () => {
      const stop = new AbortController();
      seats.add(stop);
      const leave = () => {
        if (seats.delete(stop)) onLeave();
      };
      return { leave, stopped: stop.signal };
    },
    /** It makes room when it has ended. */
    stopOne: () => {
      const first = [...seats].find(({ signal }) => !signal.aborted);
      first?.abort(new QueueBusy('render', 1));
    },
  };
}

/** Half of what runs is still to come, as far as anybody can tell. */
function runningMs(running: ReadonlySet<Ticket>): number {
  return [...running].reduce((sum, { cost_ms }) => sum + cost_ms / 2, 0);
}

const LATEST_WEIGHT = 0.1;

/** How many times longer renders take here than they were estimated at. */
function createPace() {
  let factor = 1;
  return {
    took: (ms: number, estimatedMs: number) => {
      factor += LATEST_WEIGHT * (ms / estimatedMs - factor);
    },
    ms: (estimatedMs: number) => estimatedMs * factor,
  };
}
