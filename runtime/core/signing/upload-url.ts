// The signature of the upload proxy URL (`proxy.put_url`). Spec: Authentication, Rules 9. The signed text is "upl1" LF
// upload_id LF exp: the URL is the credential for the bytes of one upload.
import { signFields, verifyFields } from './hmac.ts';

const PREFIX = 'upl1';

/** The path at which a deployment receives proxy uploads; the upload's id follows. */
export const PROXY_UPLOAD_PATH = '/v1/uploads/';

/** The `sig` parameter of an upload URL; `exp` in Unix seconds. */
export function signUploadUrl(upload: {
  readonly key: Uint8Array;
  readonly upload_id: string;
  readonly exp: number;
}): string {
  return signFields(upload.key, '\n', [PREFIX, upload.upload_id, String(upload.exp)]);
}

/**
 * Verifies `sig` with `exp` exactly as they were in the query, under every key still accepted.
 * Expiry is decided by the upload session, not here.
 */
export function verifyUploadUrl(upload: {
  readonly keys: readonly Uint8Array[];
  readonly upload_id: string;
  readonly exp: string;
  readonly sig: string;
}): boolean {
  const fields = [PREFIX, upload.upload_id, upload.exp];
  return verifyFields(upload.keys, '\n', { fields, sig: upload.sig });
}
