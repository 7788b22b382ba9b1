/**
 * One attempt: signs the stored bytes anew, sends them, and records the outcome. If a sent attempt cannot be recorded,
 * it is sent again under the same id. Spec: Events, Signature rules; Webhook delivery attempt.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { jitteredSeconds, retryDelaySeconds, webhookHeaders } from '../core/events.ts';
import { signWebhook } from '../core/signing/webhook.ts';
import type { WebhookStatus } from '../core/states.ts';
import type { Database } from '../db/client.ts';
import {
  type ClaimedWebhook,
  type EndedAttempt,
  recordWebhookAttempt,
  releaseWebhook,
} from '../db/webhook-attempts.ts';
import type { CallbackAnswer, PostCallback } from '../platform/callback-post.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { FailureLog } from '../platform/failure-log.ts';
import type { Log } from '../platform/log.ts';
import { openSecret } from '../platform/open-secret.ts';
import type { Sealing } from '../platform/sealing.ts';
import { callbackSecretContext } from '../platform/sealing-contexts.ts';

export type WebhookDeps = {
  readonly db: Database;
  readonly sealing: Sealing;
  readonly post: PostCallback;
  readonly log: Log;
  readonly failpoint?: Failpoint;
};

type SendingDeps = WebhookDeps & { readonly failures: FailureLog };

/** Covers the ten seconds of an attempt and recording it. */
export const WEBHOOK_LEASE_SECONDS = 30;

/** Returns the delivery's status after the attempt; undefined if the attempt does not count. */
export async function sendWebhook(
  deps: SendingDeps,
  { webhook, signal }: { webhook: ClaimedWebhook; signal: AbortSignal },
): Promise<WebhookStatus | undefined> {
  await deps.failpoint?.('webhook.claimed');
  // The time of the claim by the database's clock: receivers refuse a timestamp that is minutes
  // off, and our own clock may be.
  const started_at = new Date(webhook.lease_until.getTime() - WEBHOOK_LEASE_SECONDS * 1000);
  const began = performance.now();
  const answer = await post(deps, { webhook, started_at, signal });
  if (answer === undefined) {
    await releaseWebhook(deps.db, webhook);
    return undefined;
  }
  const duration_ms = Math.round(performance.now() - began);
  await deps.failpoint?.('webhook.sent');
  const status = await record(deps, endedAttempt({ webhook, answer, started_at, duration_ms }));
  await deps.failpoint?.('webhook.recorded');
  return status;
}

type Posting = { webhook: ClaimedWebhook; started_at: Date; signal: AbortSignal };

/** Undefined: the process is ending, and whether the receiver processed the call is unknown. */
async function post(
  deps: SendingDeps,
  { webhook, started_at, signal }: Posting,
): Promise<CallbackAnswer | undefined> {
  const { delivery_id: id, event, url, body } = webhook;
  const secrets = openSecrets(deps, webhook);
  if (secrets.length === 0) return UNSIGNED;
  const t = Math.floor(started_at.getTime() / 1000);
  const headers = webhookHeaders({ id, event, signature: signWebhook({ secrets, t, body }) });
  try {
    return await deps.post({ url, headers, body, signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/**
 * A secret that no configured key opens cannot sign. Without any secret the attempt still counts,
 * so that the schedule ends.
 */
function openSecrets({ sealing, failures }: SendingDeps, webhook: ClaimedWebhook): string[] {
  const { callback_secret_sealed: present, previous_callback_secret_sealed: previous } = webhook;
  const sealed = [present, previous, ...webhook.older_callback_secrets_sealed];
  const { project_id, delivery_id } = webhook;
  return sealed.flatMap((secret) => {
    if (secret === null) return [];
    try {
      return [openSecret(sealing, secret, callbackSecretContext(project_id)).toString()];
    } catch (error) {
      failures.failed('a callback secret cannot be decrypted', { project_id, delivery_id, error });
      return [];
    }
  });
}

const UNSIGNED: CallbackAnswer = {
  response_status: null,
  response_excerpt: null,
  error:
    'not sent: the callback secret cannot be opened any more; make a new one with rotate_callback_secret',
  retry_after_seconds: 0,
};

type Ended = {
  webhook: ClaimedWebhook;
  answer: CallbackAnswer;
  started_at: Date;
  duration_ms: number;
};

function endedAttempt({ webhook, answer, started_at, duration_ms }: Ended): EndedAttempt {
  const { delivery_id, lease_until, asked_by, resend_at, attempt } = webhook;
  const { response_status, response_excerpt, error, retry_after_seconds } = answer;
  const delay = retryDelaySeconds(attempt + 1, retry_after_seconds);
  return {
    ...{ delivery_id, lease_until, asked_by, resend_at, started_at, duration_ms },
    ...{ response_status, response_excerpt, error },
    retry_seconds: delay === null ? null : jitteredSeconds(delay, Math.random()),
  };
}

const RECORD_PAUSE_MS = 500;

/** Retries while the lease is certainly ours: a short database outage causes no duplicate. */
async function record(deps: WebhookDeps, ended: EndedAttempt): Promise<WebhookStatus | undefined> {
  const until = performance.now() + (WEBHOOK_LEASE_SECONDS / 2) * 1000;
  for (;;) {
    try {
      return await recordWebhookAttempt(deps.db, ended);
    } catch (error) {
      if (performance.now() > until) throw error;
      deps.log.warn('a webhook attempt is not recorded yet', {
        delivery_id: ended.delivery_id,
        error,
      });
      await sleep(RECORD_PAUSE_MS);
    }
  }
}
