// The signature of a protected delivery URL. Spec: Authentication, Rules 8; Delivery host, URL shapes. The signed text
// is "deliv1" LF project_id LF kid LF exp LF path, so a signature opens one path of one project until one moment, under
// one key.
import { signFields, verifyFields } from './hmac.ts';

const PREFIX = 'deliv1';

/** What a delivery signature covers. `exp` is in Unix seconds, `path` exactly as in the URL. */
export type SignedDelivery = {
  readonly secret: Uint8Array;
  readonly project_id: string;
  readonly kid: string;
  readonly exp: number;
  readonly path: string;
};

/** The `sig` parameter: base64url of 32 bytes, 43 characters. */
export function signDeliveryUrl(delivery: SignedDelivery): string {
  return signFields(delivery.secret, '\n', fieldsOf(delivery));
}

/**
 * Verifies `sig`. An altered URL is invalid whether or not it has expired; a URL expires at `exp`.
 */
export function verifyDeliveryUrl(
  delivery: SignedDelivery & { readonly sig: string; readonly now_seconds: number },
): 'valid' | 'invalid_signature' | 'signature_expired' {
  const { sig, exp, now_seconds } = delivery;
  const isSigned = verifyFields([delivery.secret], '\n', { fields: fieldsOf(delivery), sig });
  if (!isSigned) return 'invalid_signature';
  return now_seconds < exp ? 'valid' : 'signature_expired';
}

function fieldsOf({ project_id, kid, exp, path }: SignedDelivery): string[] {
  return [PREFIX, project_id, kid, String(exp), path];
}
