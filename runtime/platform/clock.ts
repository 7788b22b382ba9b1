/**
 * The source of time. Everything that depends on the time receives a clock, so that a test (or `tintype job --at`) can
 * set it. Expiries of rows use the database's clock instead.
 */
import { uptime } from 'node:os';

export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

/** The running time of this process, which stands still while the machine sleeps, and the machine's, which does not. */
type Machine = { running_ms(): number; uptime_ms(): number };

/** Asking for the uptime costs 8 µs, so it is asked for ten times a second at most. */
const LOOK_MS = 100;
/** Some systems report the uptime in whole seconds. */
const SLEEP_MS_MIN = 2000;

/**
 * The system's time at the start of this process plus its running time and the time that the
 * machine slept: continues steadily when the system clock is set.
 */
export function createSteadyClock({ running_ms, uptime_ms }: Machine): Clock {
  let looked = { running: running_ms(), uptime: uptime_ms() };
  let slept = 0;
  const lookForSleep = (running: number) => {
    const uptime = uptime_ms();
    const asleep = uptime - looked.uptime - (running - looked.running);
    if (asleep >= SLEEP_MS_MIN) slept += asleep;
    looked = { running, uptime };
  };
  return {
    now: () => {
      const running = running_ms();
      if (running - looked.running >= LOOK_MS) lookForSleep(running);
      return new Date(performance.timeOrigin + running + slept);
    },
  };
}

const steadySystemClock = createSteadyClock({
  running_ms: () => performance.now(),
  uptime_ms: () => uptime() * 1000,
});

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
