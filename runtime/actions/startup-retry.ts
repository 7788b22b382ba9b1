/**
 * Lets a starting process wait for an unavailable server. If it exited instead, Kubernetes would restart it with a
 * back-off of minutes, long after the server is back. A fault that somebody must fix ends the process with a clear
 * message.
 */
import { ServerUnavailable } from '../platform/advice.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { type Probes, StillStarting } from '../platform/readiness.ts';

export type StartupRetry = {
  /** Retries `open` while the server is unavailable; throws any other failure. */
  open<T>(server: string, open: () => Promise<T>): Promise<T>;
  /** The probes that /readyz uses meanwhile. */
  probes(): Probes;
};

type Waiting = {
  log: Log;
  lifecycle: Pick<Lifecycle, 'pause'>;
  random?: () => number;
};

const PAUSE_MS = { first: 500, last: 10_000 };

export function createStartupRetry({
  log,
  lifecycle,
  random = Math.random,
}: Waiting): StartupRetry {
  let missing = notReadyProbes('start');
  return {
    probes: () => missing,
    open: async (server, open) => {
      missing = notReadyProbes(server);
      for (let wait_ms = PAUSE_MS.first; ; wait_ms = Math.min(wait_ms * 2, PAUSE_MS.last)) {
        try {
          return await open();
        } catch (error) {
          if (!(error instanceof ServerUnavailable)) throw error;
          // Logged once; the ready line shows how long the wait took.
          if (wait_ms === PAUSE_MS.first) {
            log.warn('a dependency is away: the process waits for it', {
              dependency: server,
              error,
            });
          }
        }
        await lifecycle.pause(wait_ms * (0.5 + random()));
      }
    },
  };
}

/** A probe that fails while the process starts. */
export function notReadyProbes(dependency: string): Probes {
  return { [dependency]: () => Promise.reject(new StillStarting('the process still starts')) };
}
