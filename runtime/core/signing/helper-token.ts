// The upload helper's token, created and verified on the customer's server. Spec: Authentication, Rules 7. Layout:
// hlp1.{upload_id}.{exp}.{state}.{mac}; the mac is keyed with a hash of the API key (HKDF, not the plain SHA-256 that
// the service stores) and covers everything before it.
import { isRecord, parseAnyJson } from '../json.ts';
import { deriveKey, parseUnixSeconds, signFields, verifyFields } from './hmac.ts';

const PREFIX = 'hlp1';
const TOKEN_SHAPE = /^hlp1\.([^.]+)\.([^.]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

/** What prepare decided and complete needs again. `metadata` is the middleware's, as JSON. */
export type HelperState = { readonly route: string; readonly metadata: unknown };

/**
 * The content of a token, valid or expired; `exp` is the upload session's expiry in Unix seconds.
 */
export type HelperUpload = {
  readonly outcome: 'valid' | 'upload_expired';
  readonly upload_id: string;
  readonly exp: number;
  readonly state: HelperState;
};

export type HelperVerdict = HelperUpload | { readonly outcome: 'invalid_token' };

/** The token for one upload session; it becomes invalid with the API key. */
export function signHelperToken(upload: {
  readonly api_key: string;
  readonly upload_id: string;
  readonly exp: number;
  readonly state: HelperState;
}): string {
  const state = Buffer.from(JSON.stringify(upload.state)).toString('base64url');
  const fields = [PREFIX, upload.upload_id, String(upload.exp), state];
  return [...fields, signFields(keyOf(upload.api_key), '.', fields)].join('.');
}

/** Verifies a token under the current API key. */
export function verifyHelperToken(
  apiKey: string,
  token: string,
  nowSeconds: number,
): HelperVerdict {
  const [, upload_id = '', expText = '', stateText = '', sig = ''] = TOKEN_SHAPE.exec(token) ?? [];
  const fields = [PREFIX, upload_id, expText, stateText];
  const isSigned = verifyFields([keyOf(apiKey)], '.', { fields, sig });
  const exp = parseUnixSeconds(expText);
  const state = isSigned ? parseState(stateText) : undefined;
  if (exp === undefined || state === undefined) return { outcome: 'invalid_token' };
  return { outcome: nowSeconds < exp ? 'valid' : 'upload_expired', upload_id, exp, state };
}

function keyOf(apiKey: string): Buffer {
  return deriveKey(Buffer.from(apiKey), PREFIX);
}

function parseState(text: string): HelperState | undefined {
  const value = parseAnyJson(Buffer.from(text, 'base64url').toString());
  if (!isRecord(value)) return undefined;
  const { route, metadata } = value;
  return typeof route === 'string' ? { route, metadata } : undefined;
}
