/**
 * Sends webhooks within a moment of their time, while its process runs; the job of the same name heals what a process
 * left. Spec: Webhook delivery attempt.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';
import { type LookLoop, startLookLoop } from './look-loop.ts';
import type { WebhookSender } from './webhook-sender.ts';

const PAUSE_MS = 200;
/** Between two looks, even where calls end all the time. */
const REST_MS = 10;
const GRACE_MS = 5_000;

/** At its stop what is under way has a moment to end, and is sent again by the next sender otherwise. */
export function startWebhookLoop(
  { sender, log }: { sender: WebhookSender; log: Log },
  { grace_ms = GRACE_MS }: { grace_ms?: number } = {},
): LookLoop {
  const cutting = new AbortController();
  const under_way = new Set<Promise<unknown>>();
  const begin = async () => {
    for (const work of await sender.begin(cutting.signal)) {
      under_way.add(work);
      void work.finally(() => under_way.delete(work));
    }
  };
  const loop = startLookLoop({
    log,
    says: 'due webhooks were not looked at',
    look: async (signal) => {
      const pauseFor = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
      const began = performance.now();
      await begin();
      // Looking takes at most half of the time, however many projects wait for their turn.
      await pauseFor(performance.now() - began);
      await Promise.race([pauseFor(PAUSE_MS), sender.next()]);
    },
    pause_ms: REST_MS,
  });
  return {
    stop: async () => {
      await loop.stop();
      const cut = setTimeout(() => cutting.abort(new Error('the process ends')), grace_ms);
      await Promise.all(under_way);
      clearTimeout(cut);
    },
  };
}
