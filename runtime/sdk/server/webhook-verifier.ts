/** Verifies the webhooks that your server receives, against the clock of your server. Spec: Verifier failure reasons. */
import type { VerifierReason } from '../../core/errors.ts';
import { verifyWebhook as judge, type WebhookVerdict } from '../../core/signing/webhook.ts';
import type { WebhookEvent } from './webhook-events.ts';

export type VerifiedWebhook =
  | { readonly valid: true; readonly event: WebhookEvent }
  | { readonly valid: false; readonly reason: VerifierReason };

/** The body exactly as it was received: bytes, or the text that they are. Never throws for what came in. */
export function verifyWebhook(received: {
  /** The project's `callback_secret`; during a rotation both, and one that fits is enough. */
  readonly secret: string | readonly string[];
  /** The value of X-Service-Signature. */
  readonly signature: string | null | undefined;
  readonly body: Uint8Array | string;
  /** How far the sender's clock may be from yours, either way; default 300. */
  readonly toleranceSeconds?: number;
  /** Default: now. */
  readonly now?: Date;
}): VerifiedWebhook {
  const { secret, signature, body, toleranceSeconds, now = new Date() } = received;
  const secrets = [secret].flat();
  if (secrets.length === 0 || !secrets.every(isText)) {
    throw new TypeError(
      'verifyWebhook was given no secret: give the callback_secret of the project',
    );
  }
  // Who signs nothing is told so, whatever a framework makes of a body that is none. Jest has bytes of another realm.
  if (signature && typeof body !== 'string' && !ArrayBuffer.isView(body)) {
    throw new TypeError('body is no text and no bytes: give it as it came, before it is parsed');
  }
  const verdicts = secrets.map((each) =>
    judge({
      secret: each,
      header: signature,
      body,
      now_seconds: Math.floor(now.getTime() / 1000),
      ...(toleranceSeconds === undefined ? {} : { tolerance_seconds: toleranceSeconds }),
    }),
  );
  return asTyped(verdicts.find(isSigned) ?? (verdicts[0] as WebhookVerdict));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** A body that is no event was signed all the same: no other secret says more of it. */
function isSigned(verdict: WebhookVerdict): boolean {
  return verdict.valid || verdict.reason === 'invalid_body';
}

/** Who signed it keeps to the table of events. */
function asTyped(verdict: WebhookVerdict): VerifiedWebhook {
  return verdict.valid ? { valid: true, event: verdict.event as WebhookEvent } : verdict;
}
