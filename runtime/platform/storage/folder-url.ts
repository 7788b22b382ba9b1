/**
 * The signed PUT URL of folder storage. Bucket, key, content type, exact length, expiry and, for a part, its upload and
 * number are signed, so that the holder of the URL cannot change any of them.
 */
import { oncePerObject } from '../../core/once-per-object.ts';
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
  /** For a part of a multipart upload; a part has no content type of its own. */
  upload_id?: string;
  part_number?: number;
};

export function printFolderPut(
  issuer: { publicUrl: string; secret: Uint8Array; clock: Clock },
  terms: PutTerms & Pick<FolderPut, 'bucket' | 'key' | 'upload_id' | 'part_number'>,
): PresignedPut {
  const exp = Math.floor(issuer.clock.now().getTime() / 1000) + terms.expires_in_seconds;
  const put = { ...terms, exp };
  const sig = signFields(folderKey(issuer.secret), '\n', signedFields(put));
  return {
    url: issuer.publicUrl + printTarget(put, sig),
    headers: { 'content-type': terms.content_type, 'content-length': String(terms.size_bytes) },
    expires_at: new Date(exp * 1000),
  };
}

function printTarget(put: FolderPut, sig: string): string {
  const query = new URLSearchParams({
    exp: String(put.exp),
    size: String(put.size_bytes),
    type: put.content_type,
    ...(put.upload_id === undefined
      ? {}
      : { upload: put.upload_id, part: String(put.part_number) }),
    sig,
  });
  return `${FOLDER_STORAGE_PATH}${put.bucket}/${put.key}?${query}`;
}

/** The request that a signed target describes; undefined for anything altered. */
export function verifyFolderPut(secret: Uint8Array, target: string): FolderPut | undefined {
  const [path = '', queryText = ''] = target.split('?');
  const [bucket = '', ...segments] = path.slice(FOLDER_STORAGE_PATH.length).split('/');
  const query = new URLSearchParams(queryText);
  const exp = parseUnixSeconds(query.get('exp') ?? '');
  const sizeBytes = parseUnixSeconds(query.get('size') ?? '');
  const key = segments.join('/');
  if (!isObjectKey(key) || exp === undefined || sizeBytes === undefined) return undefined;
  const content_type = query.get('type') ?? '';
  const put = { bucket, key, content_type, size_bytes: sizeBytes, exp, ...parsePart(query) };
  const sig = query.get('sig') ?? '';
  // Accepts exactly one spelling: no escapes, order or parameters other than ours.
  if (printTarget(put, sig) !== target) return undefined;
  const signed = { fields: signedFields(put), sig };
  return verifyFields([folderKey(secret)], '\n', signed) ? put : undefined;
}

function parsePart(query: URLSearchParams): Pick<FolderPut, 'upload_id' | 'part_number'> {
  const upload_id = query.get('upload');
  return upload_id === null ? {} : { upload_id, part_number: Number(query.get('part')) };
}

function signedFields(put: FolderPut): string[] {
  const { bucket, key, content_type, size_bytes, exp, upload_id = '', part_number = '' } = put;
  const part = [upload_id, String(part_number)];
  return [PREFIX, bucket, key, content_type, String(size_bytes), String(exp), ...part];
}

/** Derived once per secret, because an upload can have ten thousand parts. */
const folderKey = oncePerObject((secret: Uint8Array) => deriveKey(secret, PREFIX));
