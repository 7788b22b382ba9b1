// The signature of payment provider B's webhooks. Spec: Authentication, Credentials, PaymentProviderBSignature:
// lowercase hex hmac-sha256(webhook secret, raw body), without a time; a repeated event is recognized by its id.
import { hmac, isSameSecret } from './hmac.ts';

/** The value of provider-b-signature. */
export function signProviderB(secret: string, body: Uint8Array): string {
  return hmac(secret, body).toString('hex');
}

/** Whether the header's value signs exactly these bytes. */
export function verifyProviderB(
  secret: string,
  body: Uint8Array,
  signature: string | undefined,
): boolean {
  return isSameSecret(signature ?? '', signProviderB(secret, body));
}
