// The signature of browser writes. Spec: Authentication, Credentials, RequestSignature: hex hmac-sha256(secret, METHOD
// LF pathname LF raw body); the query string is not covered.
import { hmac, isSameSecret } from './hmac.ts';

/** The signed parts: method in upper case, pathname as sent, the body's bytes as received. */
export type SignedRequest = {
  readonly method: string;
  readonly pathname: string;
  readonly body: Uint8Array;
};

/** The value of X-Request-Signature. An empty body signs as the empty string. */
export function signRequest(secret: string, { method, pathname, body }: SignedRequest): string {
  return hmac(secret, `${method}\n${pathname}\n`, body).toString('hex');
}

/** Whether the header's value signs exactly this request. */
export function verifyRequest(
  secret: string,
  request: SignedRequest,
  signature: string | undefined,
): boolean {
  const expected = signRequest(secret, request);
  return isSameSecret(signature ?? '', expected);
}
