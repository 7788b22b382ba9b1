/**
 * Who renders now: viewers' renders, of which heavy ones leave a seat for light ones, and warm renders that make room
 * for them. A seat beyond the slots is for a render that reads its source while the slots are busy.
 */
import { QueueBusy } from '../../platform/queue/queue.ts';
import type {
  Estimate,
  RenderEnd,
  RenderPace,
  RenderWeight,
  RunningRender,
} from './render-pace.ts';

export type RenderSeats = {
  /** How many slots serve renders of this weight. */
  slotsOf(weight: RenderWeight): number;
  isFree(weight: RenderWeight): boolean;
  /** Whether a seat would remain free beside a warm render, if there are several. */
  isIdle(): boolean;
  /** The remaining time of all seated renders together. */
  leftMs(): number;
  take(estimate: Estimate): ReleaseSeat;
  takeWarm(): WarmSeat;
  /** Stops a warm render, if one runs: its seat is free once it has ended. */
  stopOneWarm(): void;
};

/** Only the first call counts. */
export type ReleaseSeat = (how: RenderEnd) => void;
/** `stopped` aborts when somebody needs the seat. */
export type WarmSeat = { leave(): void; stopped: AbortSignal };

type Options = {
  slots: number;
  reading_ahead: number;
  pace: RenderPace;
  /** Called after a seat was left. */
  onLeave(): void;
};

export function createRenderSeats({ slots, reading_ahead, pace, onLeave }: Options): RenderSeats {
  const count = slots + reading_ahead;
  const countOf = { light: count, heavy: Math.max(1, count - 1) };
  const taken = { light: new Set<RunningRender>(), heavy: new Set<RunningRender>() };
  const warm = new Set<AbortController>();
  const size = () => taken.light.size + taken.heavy.size + warm.size;
  const leaveBy = (left: () => boolean) => {
    if (left()) onLeave();
  };
  return {
    slotsOf: (weight) => Math.min(slots, countOf[weight]),
    isFree: (weight) => size() < count && (weight === 'light' || taken.heavy.size < countOf.heavy),
    isIdle: () => size() < Math.max(1, count - 1),
    leftMs: () =>
      [...taken.light, ...taken.heavy].reduce((total, render) => total + render.leftMs(), 0),
    take: (estimate) => {
      const seats = taken[estimate.weight];
      const render = pace.begin(estimate);
      seats.add(render);
      return (how) =>
        leaveBy(() => {
          if (!seats.delete(render)) return false;
          render.end(how);
          return true;
        });
    },
    takeWarm: () => {
      const stop = new AbortController();
      warm.add(stop);
      return { leave: () => leaveBy(() => warm.delete(stop)), stopped: stop.signal };
    },
    stopOneWarm: () => {
      const first = [...warm].find(({ signal }) => !signal.aborted);
      first?.abort(new QueueBusy('render', 1));
    },
  };
}
