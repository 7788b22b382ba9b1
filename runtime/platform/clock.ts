/**
 * Where the time comes from. Everything that acts on the time is handed a clock, so that a test
 * (or `tintype job --at`) decides what now is. Expiries of rows use the database's clock instead.
 */

export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

/** The system's time when this process began, and how long it has run since: whatever is done to the clock, it goes on. */
const steadySystemClock: Clock = {
  now: () => new Date(performance.timeOrigin + performance.now()),
};

/**
 * The same clock for what is measured within a process: ages, spans and pauses, which a clock that is set back would
 * stretch by as much.
 */
export function steady(clock: Clock): Clock {
  return clock === systemClock ? steadySystemClock : clock;
}

/** A clock that stands still: a job that runs as if at one moment. */
export function fixedClock(at: Date): Clock {
  return { now: () => new Date(at) };
}
