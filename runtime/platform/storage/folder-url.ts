/**
 * The signed PUT URL of folder storage: bucket, key, content type, exact length and expiry are what
 * is signed, so that none of them can be changed by whoever holds the URL.
 */
import { deriveKey, parseUnixSeconds, signFields, verifyFields } from '../../core/signing/hmac.ts';
import type { Clock } from '../clock.ts';
import { isObjectKey, type PresignedPut, type PutTerms } from './bucket.ts';

export const FOLDER_STORAGE_PATH = '/_storage/';
const PREFIX = 'stor1';

export type FolderPut = {
  bucket: string;
  key: string;
  content_type: string;
  size_bytes: number;
  exp: number;
};

export function printFolderPut(
  issuer: { publicUrl: string; secret: Uint8Array; clock: Clock },
  terms: PutTerms & { bucket: string; key: string },
): PresignedPut {
  const exp = Math.floor(issuer.clock.now().getTime() / 1000) + terms.expires_in_seconds;
  const put = { ...terms, exp };
  const query = new URLSearchParams({
    exp: String(exp),
    size: String(terms.size_bytes),
    type: terms.content_type,
    sig: signFields(folderKey(issuer.secret), '\n', signedFields(put)),
  });
  const path = `${FOLDER_STORAGE_PATH}${terms.bucket}/${terms.key}`;
  return {
    url: `${issuer.publicUrl}${path}?${query}`,
    headers: { 'content-type': terms.content_type, 'content-length': String(terms.size_bytes) },
    expires_at: new Date(exp * 1000),
  };
}

/** What a request target asks for, if it is signed; undefined for anything altered. */
export function verifyFolderPut(secret: Uint8Array, target: string): FolderPut | undefined {
  const [path = '', queryText = '', ...rest] = target.split('?');
  const [bucket = '', ...segments] = path.slice(FOLDER_STORAGE_PATH.length).split('/');
  const query = new URLSearchParams(queryText);
  const exp = parseUnixSeconds(query.get('exp') ?? '');
  const sizeBytes = parseUnixSeconds(query.get('size') ?? '');
  const key = segments.join('/');
  const isWhole = query.size === 4 && rest.length === 0 && isObjectKey(key);
  if (!isWhole || exp === undefined || sizeBytes === undefined) return undefined;
  const put = { bucket, key, content_type: query.get('type') ?? '', size_bytes: sizeBytes, exp };
  const signed = { fields: signedFields(put), sig: query.get('sig') ?? '' };
  return verifyFields([folderKey(secret)], '\n', signed) ? put : undefined;
}

function signedFields(put: FolderPut): string[] {
  const { bucket, key, content_type, size_bytes, exp } = put;
  return [PREFIX, bucket, key, content_type, String(size_bytes), String(exp)];
}

function folderKey(secret: Uint8Array): Buffer {
  return deriveKey(secret, PREFIX);
}
