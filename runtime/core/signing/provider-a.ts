// The signature of payment provider A's webhooks. Spec: Authentication, Credentials, PaymentProviderASignature:
// t=<unix>,v1=<hex> over the raw body, 300 s tolerance; several v1 are accepted, because the provider sends two while
// its secret is rotated.
import { PROVIDER_A_TOLERANCE_SECONDS } from '../limits.ts';
import {
  isSignedBy,
  isWithinTolerance,
  parseTimestamped,
  printTimestamped,
} from './timestamped.ts';

/** The value of Provider-A-Signature at Unix second t. */
export function signProviderA(secret: string, t: number, body: Uint8Array): string {
  return printTimestamped([secret], t, body);
}

/** Whether the header's value signs exactly these bytes, within the tolerance. */
export function verifyProviderA(webhook: {
  readonly secret: string;
  readonly header: string | undefined;
  readonly body: Uint8Array;
  readonly now_seconds: number;
}): boolean {
  const signature = parseTimestamped(webhook.header ?? '');
  if (signature === undefined) return false;
  const isSigned = isSignedBy(webhook.secret, signature, webhook.body);
  return (
    isSigned && isWithinTolerance(signature, webhook.now_seconds, PROVIDER_A_TOLERANCE_SECONDS)
  );
}
