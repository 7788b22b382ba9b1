/**
 * Where the time comes from. Everything that acts on the time is handed a clock, so that a test
 * (or `tintype job --at`) decides what now is. Expiries of rows use the database's clock instead.
 */

export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

/** A clock that stands still: a job that runs as if at one moment. */
export function fixedClock(at: Date): Clock {
  return { now: () => new Date(at) };
}
