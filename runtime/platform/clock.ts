/**
 * The source of time. Everything that depends on the time receives a clock, so that a test (or `tintype job --at`) can
 * set it. Expiries of rows use the database's clock instead.
 */

export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

/**
 * The system's time at the start of this process plus its running time: continues steadily when the
 * system clock is set.
 */
const steadySystemClock: Clock = {
  now: () => new Date(performance.timeOrigin + performance.now()),
};

/**
 * The steady version of a clock, for measurements within a process: ages, spans and pauses, which a
 * system clock that is set back would prolong by as much.
 */
export function steady(clock: Clock): Clock {
  return clock === systemClock ? steadySystemClock : clock;
}

/** A clock that stands still, for a job that runs as if at one moment. */
export function fixedClock(at: Date): Clock {
  return { now: () => new Date(at) };
}
