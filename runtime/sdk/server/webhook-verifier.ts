/** Verifies webhooks that your server receives, by your server's clock. Spec: Verifier failure reasons. */
import type { VerifierReason } from '../../core/errors.ts';
import { verifyWebhook as judge, type WebhookVerdict } from '../../core/signing/webhook.ts';
import type { WebhookEvent } from './webhook-events.ts';

export type VerifiedWebhook =
  | { readonly valid: true; readonly event: WebhookEvent }
  | { readonly valid: false; readonly reason: VerifierReason };

/** Takes the body exactly as received: bytes or their text. Received data never makes it throw. */
export function verifyWebhook(received: {
  /** The project's `callback_secret`; during a rotation pass both, and one match is enough. */
  readonly secret: string | readonly string[];
  /** The value of X-Service-Signature. */
  readonly signature: string | null | undefined;
  readonly body: Uint8Array | string;
  /** How far the sender's clock may be from yours, in seconds either way; default 300. */
  readonly toleranceSeconds?: number;
  /** Default: now. */
  readonly now?: Date;
}): VerifiedWebhook {
  const { secret, signature, body, toleranceSeconds, now = new Date() } = received;
  const secrets = [secret].flat();
  if (secrets.length === 0 || !secrets.every(isText)) {
    throw new TypeError(
      'verifyWebhook was given no secret: pass the callback_secret of the project',
    );
  }
  // A missing signature is reported as such, whatever a framework makes of a missing body. isView
  // also accepts bytes of another realm, as in Jest.
  if (signature && typeof body !== 'string' && !ArrayBuffer.isView(body)) {
    throw new TypeError('body is neither text nor bytes: pass it as received, before it is parsed');
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

/** A body that is no event was still signed with this secret; the others can add nothing. */
function isSigned(verdict: WebhookVerdict): boolean {
  return verdict.valid || verdict.reason === 'invalid_body';
}

/** The service signs only events of its table. */
function asTyped(verdict: WebhookVerdict): VerifiedWebhook {
  return verdict.valid ? { valid: true, event: verdict.event as WebhookEvent } : verdict;
}
