/** Looks again and again whether something is due, while its process runs; less often while looking fails. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';
import { createOutageLog } from '../platform/outage-log.ts';
import { onTrail } from '../platform/trail.ts';

export type LookLoop = {
  /** Begins nothing more, ends the calls under way, and waits for that. */
  stop(): Promise<void>;
};

export type LookLoopOptions = {
  log: Log;
  /** Said where looking fails, and once a minute while it does. */
  says: string;
  look(signal: AbortSignal): Promise<void>;
  pause_ms: number;
};

/** While the database does not answer. */
const PAUSE_MS_MAX = 15_000;

export function startLookLoop(options: LookLoopOptions): LookLoop {
  const ending = new AbortController();
  const running = run(options, ending.signal);
  return {
    stop: async () => {
      ending.abort(new Error('the process ends'));
      await running;
    },
  };
}

async function run(
  { log, says, look, pause_ms }: LookLoopOptions,
  signal: AbortSignal,
): Promise<void> {
  const outage = createOutageLog(log, { says });
  let pause = pause_ms;
  while (!signal.aborted) {
    try {
      await onTrail({ request_id: randomUUID() }, () => look(signal));
      pause = pause_ms;
      outage.went();
    } catch (error) {
      if (signal.aborted) return;
      outage.failed(error);
      pause = Math.min(pause * 2, PAUSE_MS_MAX);
    }
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}
