/**
 * Who renders now: viewers' renders, of which heavy ones leave a permit for light ones, and warm renders that make room
 * for them. A permit beyond the slots is for a render that reads its source while the slots are busy.
 */
import { QueueBusy } from '../../platform/queue/queue.ts';
import type {
  Estimate,
  RenderEnd,
  RenderPace,
  RenderWeight,
  RunningRender,
} from './render-pace.ts';

export type RenderPermits = {
  /** How many slots serve renders of this weight. */
  slotsOf(weight: RenderWeight): number;
  isFree(weight: RenderWeight): boolean;
  /** Whether a permit would remain free beside a warm render, if there are several. */
  isIdle(): boolean;
  /** The remaining time of all running renders together. */
  leftMs(): number;
  acquire(estimate: Estimate): ReleasePermit;
  acquireWarm(): WarmRenderPermit;
  /** Stops a warm render, if one runs: its permit is free once it has ended. */
  stopOneWarm(): void;
};

/** Only the first call counts. */
export type ReleasePermit = (how: RenderEnd) => void;
/** `stopped` aborts when somebody needs the permit. */
export type WarmRenderPermit = { release(): void; stopped: AbortSignal };

type Options = {
  slots: number;
  reading_ahead: number;
  pace: RenderPace;
  /** Called after a permit was released. */
  onRelease(): void;
};

export function createRenderPermits({
  slots,
  reading_ahead,
  pace,
  onRelease,
}: Options): RenderPermits {
  const count = slots + reading_ahead;
  const countOf = { light: count, heavy: Math.max(1, count - 1) };
  const held = { light: new Set<RunningRender>(), heavy: new Set<RunningRender>() };
  const warm = new Set<AbortController>();
  const size = () => held.light.size + held.heavy.size + warm.size;
  const releaseBy = (isReleased: () => boolean) => {
    if (isReleased()) onRelease();
  };
  return {
    slotsOf: (weight) => Math.min(slots, countOf[weight]),
    isFree: (weight) => size() < count && (weight === 'light' || held.heavy.size < countOf.heavy),
    isIdle: () => size() < Math.max(1, count - 1),
    leftMs: () =>
      [...held.light, ...held.heavy].reduce((total, render) => total + render.leftMs(), 0),
    acquire: (estimate) => {
      const ofWeight = held[estimate.weight];
      const render = pace.begin(estimate);
      ofWeight.add(render);
      return (how) =>
        releaseBy(() => {
          if (!ofWeight.delete(render)) return false;
          render.end(how);
          return true;
        });
    },
    acquireWarm: () => {
      const stop = new AbortController();
      warm.add(stop);
      return { release: () => releaseBy(() => warm.delete(stop)), stopped: stop.signal };
    },
    stopOneWarm: () => {
      const first = [...warm].find(({ signal }) => !signal.aborted);
      first?.abort(new QueueBusy('render', 1));
    },
  };
}
