/**
 * How long renders take here compared with their estimates, learned from finished renders. A machine may be busier or
 * slower than the one on which the estimates were made, and expensive renders differ from cheap ones.
 */
export type RenderPace = {
  /** The expected milliseconds of a slot for a render with this estimate. */
  ms(estimate: Estimate): number;
  begin(estimate: Estimate): RunningRender;
};

export type RenderWeight = 'light' | 'heavy';
export type Estimate = { weight: RenderWeight; cost_ms: number };
export type RunningRender = {
  /** The time that it is expected to need still. */
  leftMs(): number;
  /** A canceled render teaches nothing, except that it took at least as long as it ran. */
  end(how: RenderEnd): void;
};
export type RenderEnd = 'rendered' | 'given up';

const LATEST_WEIGHT = 0.2;

/** `first_pace`: the factor on estimates before any render has ended. */
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

/**
 * The slot time that each render has received; when more run than there are slots, they share
 * equally.
 */
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
