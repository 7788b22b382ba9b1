/** Presigned URLs: type and length are signed, so that the storage itself refuses anything else. */
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { PartTerms, PresignedPut, PutTerms } from './bucket.ts';
import type { S3Place } from './s3-client.ts';
import { signPartUrl } from './s3-part-url.ts';

export async function presignPut(
  place: S3Place,
  key: string,
  terms: PutTerms,
): Promise<PresignedPut> {
  const { content_type, size_bytes, expires_in_seconds } = terms;
  const facing = { Bucket: place.bucket, Key: key, ContentType: content_type };
  const command = new PutObjectCommand({ ...facing, ContentLength: size_bytes });
  const signed = signing(place, expires_in_seconds, ['content-type', 'content-length']);
  return {
    url: await getSignedUrl(place.signer, command, signed.options),
    headers: { 'content-type': content_type, 'content-length': String(size_bytes) },
    expires_at: signed.expires_at,
  };
}

export async function presignPart(
  place: S3Place,
  key: string,
  part: PartTerms,
): Promise<{ url: string; expires_at: Date }> {
  const now = place.clock.now();
  // A part has no type, and a browser sends its blob's type, so only the length is signed.
  const url = await signPartUrl({ place, key, part, now });
  return { url, expires_at: expiry(now, part.expires_in_seconds) };
}

function signing({ clock }: S3Place, expiresIn: number, headers: readonly string[]) {
  const signingDate = clock.now();
  const signableHeaders = new Set(['host', ...headers]);
  const expires_at = expiry(signingDate, expiresIn);
  return { expires_at, options: { expiresIn, signingDate, signableHeaders } };
}

/** The storage counts from the whole second in the URL. */
function expiry(now: Date, seconds: number): Date {
  return new Date(Math.floor(now.getTime() / 1000 + seconds) * 1000);
}
