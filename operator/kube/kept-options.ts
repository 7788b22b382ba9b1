/** The options of every call, read again every half minute, as tokens change. */
import type { RequestOptions } from 'node:https';
import type { Credentials } from './credentials.ts';
import type { TimedClock } from './timed-clock.ts';

const FRESH_MS = 30_000;

/** After a failed read, the next call tries again. */
export function keepOptions(
  read: () => Promise<RequestOptions>,
  clock: TimedClock,
): Pick<Credentials, 'options' | 'forget'> {
  let held: { until: number; options: Promise<RequestOptions> } | undefined;
  const forget = () => {
    held = undefined;
  };
  const options = (): Promise<RequestOptions> => {
    if (held === undefined || held.until <= clock.elapsed()) {
      held = { until: clock.elapsed() + FRESH_MS, options: read() };
      held.options.catch(forget);
    }
    return held.options;
  };
  return { options, forget };
}
