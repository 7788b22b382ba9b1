// The signature of our webhooks, and the verifier for receivers. Spec: Events, Signature rules; Verifier failure
// reasons. While a rotated secret is still accepted, several secrets sign.
import type { VerifierReason } from '../errors.ts';
import { isRecord, parseAnyJson } from '../json.ts';
import { WEBHOOK_TOLERANCE_SECONDS_DEFAULT } from '../limits.ts';
import {
  isSignedBy,
  isWithinTolerance,
  parseTimestamped,
  printTimestamped,
} from './timestamped.ts';

/** The body of a verified webhook. */
export type WebhookEvent = {
  readonly id: string;
  readonly event: string;
  readonly created_at: string;
  readonly data: Readonly<Record<string, unknown>>;
};

export type WebhookVerdict =
  | { readonly valid: true; readonly event: WebhookEvent }
  | { readonly valid: false; readonly reason: VerifierReason };

/** The value of X-Service-Signature; `t` is the Unix second of this attempt. */
export function signWebhook(webhook: {
  readonly secrets: readonly string[];
  readonly t: number;
  readonly body: Uint8Array | string;
}): string {
  if (webhook.secrets.length === 0) throw new TypeError('a webhook is signed by no secret');
  return printTimestamped(webhook.secrets, webhook.t, webhook.body);
}

/**
 * Verifies a received webhook over its body exactly as received, checking in the order of the table
 * of reasons; never throws because of the input.
 */
export function verifyWebhook(webhook: {
  readonly secret: string;
  readonly header: string | null | undefined;
  readonly body: Uint8Array | string;
  readonly now_seconds: number;
  readonly tolerance_seconds?: number;
}): WebhookVerdict {
  const reason = refusalOf(webhook);
  if (reason !== null) return { valid: false, reason };
  const event = parseWebhookEvent(webhook.body);
  return event === undefined ? { valid: false, reason: 'invalid_body' } : { valid: true, event };
}

function refusalOf(webhook: Parameters<typeof verifyWebhook>[0]): VerifierReason | null {
  const { header, now_seconds, tolerance_seconds = WEBHOOK_TOLERANCE_SECONDS_DEFAULT } = webhook;
  if (header === undefined || header === null || header === '') return 'missing_header';
  const signature = parseTimestamped(header);
  if (signature === undefined) return 'malformed_header';
  if (!isWithinTolerance(signature, now_seconds, tolerance_seconds)) {
    return 'timestamp_out_of_tolerance';
  }
  return isSignedBy(webhook.secret, signature, webhook.body) ? null : 'signature_mismatch';
}

function parseWebhookEvent(body: Uint8Array | string): WebhookEvent | undefined {
  const value = parseAnyJson(typeof body === 'string' ? body : new TextDecoder().decode(body));
  if (!isRecord(value)) return undefined;
  const { id, event, created_at, data } = value;
  const isText = typeof id === 'string' && typeof event === 'string';
  if (!isText || typeof created_at !== 'string' || !isRecord(data)) return undefined;
  return Number.isNaN(Date.parse(created_at)) ? undefined : { id, event, created_at, data };
}
