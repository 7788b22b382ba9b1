/**
 * Sends webhooks within moments of their due time, while its process runs; the job of the same name handles what a
 * killed process left. Spec: Webhook delivery attempt.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';
import { type PollLoop, startPollLoop } from './poll-loop.ts';
import type { WebhookSender } from './webhook-sender.ts';

const PAUSE_MS = 200;
/** The minimum pause between two looks, even while calls end constantly. */
const REST_MS = 10;

/** Stopping it also stops the sender, including calls that others started with it. */
export function startWebhookLoop(
  { sender, log }: { sender: WebhookSender; log: Log },
  { grace_ms }: { grace_ms?: number } = {},
): PollLoop {
  const loop = startPollLoop({
    log,
    says: 'due webhooks could not be processed',
    poll: async (signal) => {
      const pauseFor = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
      const began = performance.now();
      // Not awaited: the sender waits for these attempts when it stops.
      void (await sender.begin());
      // Looking takes at most half of the time, however many projects wait.
      await pauseFor(performance.now() - began);
      await Promise.race([pauseFor(PAUSE_MS), sender.next()]);
    },
    pause_ms: REST_MS,
  });
  return {
    stop: async () => {
      await loop.stop();
      await sender.stop(grace_ms);
    },
  };
}
