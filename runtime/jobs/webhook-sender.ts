/**
 * Sends due webhooks with room for every project: claims as many as the lanes allow, and more when a call ends. Several
 * senders on one database share the work. Spec: Webhook delivery attempt.
 */
import { randomUUID } from 'node:crypto';
import type { WebhookStatus } from '../core/states.ts';
import { type ClaimedWebhook, claimWebhooks } from '../db/webhook-attempts.ts';
import { createFailureLog, type FailureLog } from '../platform/failure-log.ts';
import { type TraceContext, withTraceContext } from '../platform/trace-context.ts';
import { sendWebhook, WEBHOOK_LEASE_SECONDS, type WebhookDeps } from './send-webhook.ts';
import { createLanes, type Lanes } from './webhook-lanes.ts';

export type WebhookSenderDeps = WebhookDeps & {
  readonly metrics?: { webhook(seen: { result: WebhookResult; seconds: number }): void };
};

export type WebhookResult = 'delivered' | 'failed' | 'abandoned';

export type WebhookSender = {
  /** Starts due attempts as far as there is room; each promise settles when its attempt is over. */
  begin(): Promise<Promise<WebhookResult | undefined>[]>;
  /** Settles when one of the attempts under way is over; never if there is none. */
  next(): Promise<unknown>;
  /**
   * Stops for the end of the process and starts nothing more. All attempts under way, whoever
   * started them, get `grace_ms` to end and are then aborted; the next sender sends them again.
   */
  stop(grace_ms?: number): Promise<void>;
};

const GRACE_MS = 5_000;

export function createWebhookSender(
  given: WebhookSenderDeps,
  lanes: Lanes = createLanes(),
): WebhookSender {
  const deps = { ...given, failures: createFailureLog(given.log) };
  const claims = new Set<Promise<unknown>>();
  const busy = new Set<Promise<unknown>>();
  const cutting = new AbortController();
  let isEnding = false;
  const claimAndSend = async () => {
    const room = lanes.room();
    if (isEnding || room.limit <= 0) return [];
    const lease_seconds = WEBHOOK_LEASE_SECONDS;
    const claimed = await claimWebhooks(deps.db, { ...room, lease_seconds });
    const { signal } = cutting;
    return claimed.map((webhook) => track(busy, send(deps, lanes, { webhook, signal })));
  };
  return {
    begin: () => track(claims, claimAndSend()),
    next: () => Promise.race([...busy]),
    stop: async (grace_ms = GRACE_MS) => {
      isEnding = true;
      const cut = setTimeout(() => cutting.abort(new Error('the process ends')), grace_ms);
      await Promise.allSettled([...claims]);
      await Promise.all([...busy]);
      clearTimeout(cut);
    },
  };
}

function track<T>(all: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  const over = work.finally(() => all.delete(over));
  all.add(over);
  return over;
}

type Sending = { webhook: ClaimedWebhook; signal: AbortSignal };

/** Never rejects: an attempt that failed on our side is sent again when its lease expires. */
async function send(
  deps: WebhookSenderDeps & { readonly failures: FailureLog },
  lanes: Lanes,
  sending: Sending,
): Promise<WebhookResult | undefined> {
  const { project_id, delivery_id, host } = sending.webhook;
  const leave = lanes.enter({ project_id, host });
  const began = performance.now();
  try {
    const status = await withTraceContext(traceContextOf(sending.webhook), () =>
      sendWebhook(deps, sending),
    );
    const result = status === undefined ? undefined : resultOf(status);
    const seconds = (performance.now() - began) / 1000;
    if (result !== undefined) deps.metrics?.webhook({ result, seconds });
    return result;
  } catch (error) {
    deps.log.error('a webhook attempt failed with an internal error', {
      delivery_id,
      project_id,
      error,
    });
    return undefined;
  } finally {
    leave(performance.now() - began);
  }
}

/**
 * The context of the delivery's cause, so that its request id marks all attempts in the log and
 * reaches the receiver.
 */
function traceContextOf({ request_id, traceparent }: ClaimedWebhook): TraceContext {
  const context = { request_id: request_id ?? randomUUID() };
  return traceparent === null ? context : { ...context, traceparent };
}

function resultOf(status: WebhookStatus): WebhookResult {
  return status === 'delivered' || status === 'abandoned' ? status : 'failed';
}
