/**
 * How long renders take here, beside what they were estimated at: learned from those that ended. A machine is busier or
 * slower than the one on which the estimates were made, and dear renders differ from cheap ones.
 */
export type RenderPace = {
  /** Milliseconds of a slot that a render of this estimate will take. */
  ms(estimate: Estimate): number;
  begin(estimate: Estimate): RunningRender;
};

export type RenderWeight = 'light' | 'heavy';
export type Estimate = { weight: RenderWeight; cost_ms: number };
export type RunningRender = {
  /** What it is expected to need still. */
  leftMs(): number;
  /** One that was given up says nothing, but for how long it had not ended yet. */
  end(how: RenderEnd): void;
};
export type RenderEnd = 'rendered' | 'given up';

const LATEST_WEIGHT = 0.2;

/** `first_pace`: how many times its estimate a render is taken to need before any has ended. */
type PaceOptions = { slots: number; first_pace: number; now(): number };

export function createRenderPace({ slots, first_pace, now }: PaceOptions): RenderPace {
  const factors: Record<RenderWeight, number> = { light: first_pace, heavy: first_pace };
  const shares = createShares(slots, now);
  const expected = ({ weight, cost_ms }: Estimate) => cost_ms * factors[weight];
  return {
    ms: expected,
    begin: (estimate) => {
      const share = shares.begin();
      const needs = expected(estimate);
      return {
        leftMs: () => Math.max(0, needs - share.ms()),
        end: (how) => {
          const took = share.ms();
          share.end();
          if (how === 'given up' && took < needs) return;
          const { weight, cost_ms } = estimate;
          factors[weight] += LATEST_WEIGHT * (took / cost_ms - factors[weight]);
        },
      };
    },
  };
}

/** How much of a slot each render has had, where more of them run than there are slots: all of them alike. */
function createShares(slots: number, now: () => number) {
  let running = 0;
  let each = 0;
  let at = now();
  const advance = () => {
    const moment = now();
    each += (moment - at) * Math.min(1, slots / Math.max(1, running));
    at = moment;
    return each;
  };
  return {
    begin: () => {
      const before = advance();
      running += 1;
      return {
        ms: () => advance() - before,
        end: () => {
          advance();
          running -= 1;
        },
      };
    },
  };
}
