/**
 * A process that starts while a server is away waits for it: one that ended would be started anew by Kubernetes after
 * pauses of minutes, long after the server is back. What somebody has to mend ends the process, with a sentence.
 */
import { Away } from '../platform/advice.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { type Probes, StillStarting } from '../platform/readiness.ts';

export type Patience = {
  /** Opens what needs a server, as often as it is away; any other failure is thrown. */
  open<T>(server: string, open: () => Promise<T>): Promise<T>;
  /** What /readyz asks meanwhile. */
  probes(): Probes;
};

type Waiting = {
  log: Log;
  lifecycle: Pick<Lifecycle, 'pause'>;
  random?: () => number;
};

const PAUSE_MS = { first: 500, last: 10_000 };

export function createPatience({ log, lifecycle, random = Math.random }: Waiting): Patience {
  let missing = notYet('start');
  return {
    probes: () => missing,
    open: async (server, open) => {
      missing = notYet(server);
      for (let wait_ms = PAUSE_MS.first; ; wait_ms = Math.min(wait_ms * 2, PAUSE_MS.last)) {
        try {
          return await open();
        } catch (error) {
          if (!(error instanceof Away)) throw error;
          // Once: how long it takes is seen by when the process is ready.
          if (wait_ms === PAUSE_MS.first) {
            log.warn('a server is away: the process waits for it', { dependency: server, error });
          }
        }
        await lifecycle.pause(wait_ms * (0.5 + random()));
      }
    },
  };
}

/** A check that fails for as long as a process starts. */
export function notYet(dependency: string): Probes {
  return { [dependency]: () => Promise.reject(new StillStarting('the process still starts')) };
}
