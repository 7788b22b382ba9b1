// The signature of storage notifications. Spec: Authentication, Credentials, StorageEventSignature: v1=<hex
// hmac-sha256(secret, raw body)>. It contains no time, so an event is only a hint to look.
import { hmac, isSameSecret } from './hmac.ts';

/** The value of X-Storage-Event-Notification-Signature. */
export function signStorageEvent(secret: string, body: Uint8Array): string {
  return `v1=${hmac(secret, body).toString('hex')}`;
}

/** Whether the header's value signs exactly these bytes. */
export function verifyStorageEvent(
  secret: string,
  body: Uint8Array,
  signature: string | undefined,
): boolean {
  return isSameSecret(signature ?? '', signStorageEvent(secret, body));
}
