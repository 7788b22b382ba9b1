/** Polls for due work while its process runs, and less often while polling fails. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';
import { createOutageLog } from '../platform/outage-log.ts';
import { withTraceContext } from '../platform/trace-context.ts';

export type PollLoop = {
  /** Starts nothing new, aborts the current poll and waits for it. */
  stop(): Promise<void>;
};

export type PollLoopOptions = {
  log: Log;
  /** Logged when a poll fails, and then once a minute during the outage. */
  says: string;
  poll(signal: AbortSignal): Promise<void>;
  pause_ms: number;
};

/** The longest pause while polls fail. */
const PAUSE_MS_MAX = 15_000;

export function startPollLoop(options: PollLoopOptions): PollLoop {
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
  { log, says, poll, pause_ms }: PollLoopOptions,
  signal: AbortSignal,
): Promise<void> {
  const outage = createOutageLog(log, { says });
  let pause = pause_ms;
  while (!signal.aborted) {
    try {
      await withTraceContext({ request_id: randomUUID() }, () => poll(signal));
      pause = pause_ms;
      outage.succeeded();
    } catch (error) {
      if (signal.aborted) return;
      outage.failed(error);
      pause = Math.min(pause * 2, PAUSE_MS_MAX);
    }
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}
