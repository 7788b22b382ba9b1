/**
 * Sends webhooks within a moment of their time, while its process runs; the job of the same name heals what a process
 * left. Spec: Webhook delivery attempt.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';
import type { WebhookSender } from './webhook-sender.ts';

export type WebhookLoop = {
  /** Claims nothing more; what is under way has a moment to end, and is sent again by the next sender otherwise. */
  stop(): Promise<void>;
};

export type WebhookLoopOptions = { pause_ms?: number; grace_ms?: number };

const PAUSE_MS = 200;
/** While the database does not answer. */
const PAUSE_MS_MAX = 15_000;
/** Between two looks, even where calls end all the time. */
const REST_MS = 10;
const GRACE_MS = 5_000;

type LoopDeps = { sender: WebhookSender; log: Log };

export function startWebhookLoop(deps: LoopDeps, options: WebhookLoopOptions = {}): WebhookLoop {
  const { pause_ms = PAUSE_MS, grace_ms = GRACE_MS } = options;
  const ending = new AbortController();
  const cutting = new AbortController();
  const under_way = new Set<Promise<unknown>>();
  const begin = async () => {
    const begun = await deps.sender.begin(cutting.signal);
    for (const work of begun) {
      under_way.add(work);
      void work.finally(() => under_way.delete(work));
    }
  };
  const running = run(deps, { begin, pause_ms, signal: ending.signal });
  return {
    stop: async () => {
      ending.abort(new Error('the process ends'));
      await running;
      const cut = setTimeout(() => cutting.abort(new Error('the process ends')), grace_ms);
      await Promise.all(under_way);
      clearTimeout(cut);
    },
  };
}

type Running = { begin(): Promise<void>; pause_ms: number; signal: AbortSignal };

async function run({ sender, log }: LoopDeps, { begin, pause_ms, signal }: Running): Promise<void> {
  const pauseFor = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  let failures = 0;
  while (!signal.aborted) {
    const began = performance.now();
    try {
      await begin();
      failures = 0;
    } catch (error) {
      failures += 1;
      log.warn('due webhooks were not looked at', { error });
      await pauseFor(Math.min(pause_ms * 2 ** failures, PAUSE_MS_MAX));
    }
    // Looking takes at most half of the time, however many projects wait for their turn.
    await pauseFor(Math.max(REST_MS, performance.now() - began));
    await Promise.race([pauseFor(pause_ms), sender.next()]);
  }
}
