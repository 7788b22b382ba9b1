/**
 * Sends what is due, with room for every project: claims as much as the lanes take, and again when something is over.
 * Several senders on one database share the work. Spec: Webhook delivery attempt.
 */
import { randomUUID } from 'node:crypto';
import type { WebhookStatus } from '../core/states.ts';
import { type ClaimedWebhook, claimWebhooks } from '../db/webhook-attempts.ts';
import { onTrail, type Trail } from '../platform/trail.ts';
import { sendWebhook, WEBHOOK_LEASE_SECONDS, type WebhookDeps } from './send-webhook.ts';
import { createLanes, type Lanes } from './webhook-lanes.ts';

export type WebhookSenderDeps = WebhookDeps & {
  readonly metrics?: { webhook(seen: { result: WebhookResult; seconds: number }): void };
};

export type WebhookResult = 'delivered' | 'failed' | 'abandoned';

/** Aborts of `begin`'s signal end the calls under way: they are sent again later. */
export type WebhookSender = {
  /** Begins to send what is due, as far as there is room; each promise settles when its attempt is over. */
  begin(signal: AbortSignal): Promise<Promise<WebhookResult | undefined>[]>;
  /** Settles when one of those under way is over; never when there is none. */
  next(): Promise<unknown>;
};

export function createWebhookSender(
  deps: WebhookSenderDeps,
  lanes: Lanes = createLanes(),
): WebhookSender {
  const busy = new Set<Promise<unknown>>();
  const track = (work: Promise<WebhookResult | undefined>) => {
    const over = work.finally(() => busy.delete(over));
    busy.add(over);
    return over;
  };
  return {
    begin: async (signal) => {
      const room = lanes.room();
      if (room.limit <= 0) return [];
      const lease_seconds = WEBHOOK_LEASE_SECONDS;
      const claimed = await claimWebhooks(deps.db, { ...room, lease_seconds });
      return claimed.map((webhook) => track(send(deps, lanes, { webhook, signal })));
    },
    next: () => Promise.race([...busy]),
  };
}

type Sending = { webhook: ClaimedWebhook; signal: AbortSignal };

/** Never fails: an attempt that broke on our side is over with its lease, and sent again. */
async function send(
  deps: WebhookSenderDeps,
  lanes: Lanes,
  sending: Sending,
): Promise<WebhookResult | undefined> {
  const { project_id, delivery_id, host } = sending.webhook;
  const leave = lanes.enter({ project_id, host });
  const began = performance.now();
  try {
    const status = await onTrail(trailOf(sending.webhook), () => sendWebhook(deps, sending));
    const result = status === undefined ? undefined : resultOf(status);
    const seconds = (performance.now() - began) / 1000;
    if (result !== undefined) deps.metrics?.webhook({ result, seconds });
    return result;
  } catch (error) {
    deps.log.error('an attempt of a webhook broke on our side', { delivery_id, project_id, error });
    return undefined;
  } finally {
    leave(performance.now() - began);
  }
}

/** That of its cause: the lines of all attempts are found with it, and the receiver is told it. */
function trailOf({ request_id, traceparent }: ClaimedWebhook): Trail {
  const trail = { request_id: request_id ?? randomUUID() };
  return traceparent === null ? trail : { ...trail, traceparent };
}

function resultOf(status: WebhookStatus): WebhookResult {
  return status === 'delivered' || status === 'abandoned' ? status : 'failed';
}
