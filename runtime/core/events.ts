/**
 * The events sent to a project's callback URL: kinds, data fields, body, headers, ids and the wait between attempts.
 * Spec: Events; Webhook delivery attempt. Bodies are signed in signing/webhook.ts.
 */
import { z } from 'zod';
import { cutText } from './cut-text.ts';
import {
  BLOCK_REASON_LENGTH_MAX,
  WEBHOOK_ATTEMPTS_MAX,
  WEBHOOK_BACKOFF_SECONDS_MAX,
  WEBHOOK_BODY_BYTES_MAX,
  WEBHOOK_RETRY_DELAYS_SECONDS,
  WEBHOOK_RETRY_INTERVAL_SECONDS,
} from './limits.ts';
import { cleanText, countCharacters } from './text.ts';

const timestamp = z.iso.datetime({ precision: 3 });
const fileData = {
  project_id: z.string(),
  file_id: z.string(),
  file_slug: z.string(),
  revision: z.int(),
};
const quotaData = {
  organization_id: z.string(),
  project_id: z.string(),
  day: z.iso.date(),
  credit_balance: z.int(),
};

/** Spec: Event kinds. `subject`: the data fields in the delivery id. */
export const eventKinds = {
  'upload.ready': {
    sent_when:
      'an upload was processed and the file published (also a same-slug re-upload, with a higher revision)',
    data: z.strictObject({
      upload_id: z.string(),
      project_id: fileData.project_id,
      file_id: fileData.file_id,
      file_slug: fileData.file_slug,
      sha256: z.hex().length(64),
      revision: fileData.revision,
    }),
    subject: ['upload_id'],
  },
  'file.blocked': {
    sent_when: 'moderation (scanner or staff) blocked the file; delivery answers 403 file_blocked',
    data: z.strictObject({ ...fileData, reason: z.string() }),
    subject: ['file_id'],
  },
  'file.unblocked': {
    sent_when: 'staff unblocked the file; it is served again',
    data: z.strictObject(fileData),
    subject: ['file_id'],
  },
  'quota.exceeded': {
    sent_when:
      "the organization's credit balance reached zero; delivery answers 403 quota_exceeded; one event per project with a callback URL",
    data: z.strictObject({ ...quotaData, quota_exceeded_at: timestamp }),
    subject: ['organization_id', 'project_id', 'day'],
  },
  'quota.restored': {
    sent_when: 'credits were added and delivery resumes',
    data: z.strictObject({ ...quotaData, quota_exceeded_at: z.null() }),
    subject: ['organization_id', 'project_id', 'day'],
  },
} as const satisfies Record<string, EventKind>;

/** Ours: a test of the receiver, sent by a person. */
export const additionalEventKinds = {
  'webhook.test': {
    sent_when: 'a person asked for a test delivery',
    data: z.strictObject({ project_id: z.string(), test_id: z.string() }),
    subject: ['test_id'],
  },
} as const satisfies Record<string, EventKind>;

export type EventKind = {
  readonly sent_when: string;
  readonly data: z.ZodObject;
  readonly subject: readonly string[];
};

const allKinds = { ...eventKinds, ...additionalEventKinds } as const;

export type EventName = keyof typeof allKinds;

export type EventData = { [Name in EventName]: z.infer<(typeof allKinds)[Name]['data']> };

/** What happened, as recorded by its cause; the data match the event. */
export type WebhookCause = {
  [Name in EventName]: { id: string; event: Name; data: EventData[Name] };
}[EventName];

/** A webhook before its body is printed; `created_at` is when it was first recorded. */
export type WebhookEvent = WebhookCause & { created_at: Date };

/**
 * Prints the body { id, event, created_at, data }, at most 2 KB: a reason is cleaned, cut to 500
 * characters, and cut further until the body fits. Throws when the data do not match their event.
 */
export function printWebhookBody(webhook: WebhookEvent): string {
  const data = allKinds[webhook.event].data.parse(webhook.data);
  const body = (fitted: object) =>
    JSON.stringify({
      id: webhook.id,
      event: webhook.event,
      created_at: webhook.created_at.toISOString(),
      data: fitted,
    });
  const text = webhook.event === 'file.blocked' ? fitReason(webhook.data, body) : body(data);
  if (excessBytes(text) > 0) throw new RangeError(`the body of ${webhook.id} is too large`);
  return text;
}

/**
 * The delivery id: the event and its subject. `occurrence` counts events of the same name and
 * subject from 1; from the second on it is appended, because receivers deduplicate by the id.
 */
export function printDeliveryId<Name extends EventName>(
  event: Name,
  data: EventData[Name],
  occurrence = 1,
): string {
  const fields: Record<string, unknown> = data;
  const subject = allKinds[event].subject.map((name) => String(fields[name]));
  const parts = occurrence > 1 ? [...subject, occurrence] : subject;
  return `${event}:${parts.join(':')}`;
}

/** Spec: Delivery format, headers. `signature` is the value of X-Service-Signature. */
export function webhookHeaders(delivery: {
  event: string;
  id: string;
  signature: string;
}): Record<WebhookHeader, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'service-webhooks/2',
    'X-Service-Event': delivery.event,
    'X-Service-Delivery': delivery.id,
    'X-Service-Signature': delivery.signature,
  };
}

/** The headers of a delivery, in the specification's order. */
export type WebhookHeader =
  | 'Content-Type'
  | 'User-Agent'
  | 'X-Service-Event'
  | 'X-Service-Delivery'
  | 'X-Service-Signature';

/**
 * Seconds from a failed attempt to the next; null after the last. The receiver's Retry-After
 * postpones the attempt, to at most an hour.
 */
export function retryDelaySeconds(failedAttempts: number, retryAfterSeconds = 0): number | null {
  const delay = WEBHOOK_RETRY_DELAYS_SECONDS[failedAttempts - 1];
  if (delay === undefined || failedAttempts >= WEBHOOK_ATTEMPTS_MAX) return null;
  return Math.min(Math.max(delay, retryAfterSeconds), WEBHOOK_BACKOFF_SECONDS_MAX);
}

/**
 * Adds up to a minute to the delay, never less than the delay, so that deliveries that failed
 * together are not retried together. `random` is in [0, 1).
 */
export function jitteredSeconds(delaySeconds: number, random: number): number {
  return delaySeconds + Math.min(delaySeconds / 10, WEBHOOK_RETRY_INTERVAL_SECONDS) * random;
}

/** The seconds that a Retry-After header asks for, as a number or a date; 0 when it is neither. */
export function parseRetryAfter(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  if (/^[0-9]+$/.test(header)) return Math.min(Number(header), Number.MAX_SAFE_INTEGER);
  const seconds = (Date.parse(header) - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.max(0, Math.ceil(seconds));
}

function fitReason(data: { reason: string }, body: (fitted: object) => string): string {
  let reason = cleanText(data.reason, BLOCK_REASON_LENGTH_MAX) ?? '';
  let text = body({ ...data, reason });
  for (let excess = excessBytes(text); excess > 0 && reason !== ''; excess = excessBytes(text)) {
    // A character takes at most four bytes.
    reason = cutText(reason, countCharacters(reason) - Math.ceil(excess / 4)).trimEnd();
    text = body({ ...data, reason });
  }
  return text;
}

function excessBytes(text: string): number {
  return Buffer.byteLength(text) - WEBHOOK_BODY_BYTES_MAX;
}
