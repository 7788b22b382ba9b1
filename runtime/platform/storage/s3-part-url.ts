/**
 * Presigned URLs of parts, signed by our own code (AWS Signature Version 4, in the query): an upload can have ten
 * thousand parts, and the client's layers would take many times as long.
 */
import { createHash } from 'node:crypto';
import { UploadPartCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { hmac } from '../../core/signing/hmac.ts';
import type { PartTerms } from './bucket.ts';
import type { S3Place } from './s3-client.ts';

type SignedPart = { place: S3Place; key: string; part: PartTerms; now: Date };

export async function signPartUrl({ place, key, part, now }: SignedPart): Promise<string> {
  const { config } = place.signer;
  const [base, region, credentials] = await Promise.all([
    bucketUrl(place),
    config.region(),
    config.credentials(),
  ]);
  const { accessKeyId, sessionToken } = credentials;
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  // Sorted by name; the order is part of what is signed.
  const query = [
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Content-Sha256', PAYLOAD],
    ['X-Amz-Credential', `${accessKeyId}/${scope}`],
    ['X-Amz-Date', time],
    ['X-Amz-Expires', String(part.expires_in_seconds)],
    ...(sessionToken === undefined ? [] : [['X-Amz-Security-Token', sessionToken]]),
    ['X-Amz-SignedHeaders', SIGNED_HEADERS],
    ['partNumber', String(part.part_number)],
    ['uploadId', part.upload_id],
    ['x-id', 'UploadPart'],
  ]
    .map((pair) => pair.map(escaped).join('='))
    .join('&');
  const path = `${base.pathname}${key}`;
  const headers = `content-length:${part.size_bytes}\nhost:${base.host}\n`;
  const request = ['PUT', path, query, headers, SIGNED_HEADERS, PAYLOAD].join('\n');
  const digest = createHash('sha256').update(request).digest('hex');
  const text = [ALGORITHM, time, scope, digest].join('\n');
  const signature = hmac(signingKey(credentials, scope), text).toString('hex');
  return `${base.origin}${path}?${query}&X-Amz-Signature=${signature}`;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const PAYLOAD = 'UNSIGNED-PAYLOAD';
const SIGNED_HEADERS = 'content-length;host';

/**
 * The bucket's URL as the client determines it: by path or by host, at AWS or at another address.
 */
const bucketUrls = new WeakMap<S3Place['signer'], Map<string, Promise<URL>>>();

async function bucketUrl({ signer, bucket }: S3Place): Promise<URL> {
  const known = bucketUrls.get(signer) ?? new Map<string, Promise<URL>>();
  bucketUrls.set(signer, known);
  const found = known.get(bucket) ?? askBucketUrl(signer, bucket);
  known.set(bucket, found);
  try {
    return await found;
  } catch (error) {
    known.delete(bucket);
    throw error;
  }
}

const SOME_KEY = 'key';

async function askBucketUrl(signer: S3Place['signer'], bucket: string): Promise<URL> {
  const params = { Bucket: bucket, Key: SOME_KEY, UploadId: 'id', PartNumber: 1 };
  const url = new URL(await getSignedUrl(signer, new UploadPartCommand(params)));
  return new URL(url.pathname.slice(0, -SOME_KEY.length), url.origin);
}

type Credentials = { secretAccessKey: string };
/** The signing key is the same for all parts of a day. */
const signingKeys = new WeakMap<Credentials, { scope: string; key: Uint8Array }>();

function signingKey(credentials: Credentials, scope: string): Uint8Array {
  const known = signingKeys.get(credentials);
  if (known?.scope === scope) return known.key;
  const first: Uint8Array = Buffer.from(`AWS4${credentials.secretAccessKey}`);
  const key = scope.split('/').reduce((above, step) => hmac(above, step), first);
  signingKeys.set(credentials, { scope, key });
  return key;
}

/** The encoding that the signature requires: everything except letters, digits and -._~ in hex. */
function escaped(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
