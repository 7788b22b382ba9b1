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
  const params = { Bucket: place.bucket, Key: key, ContentType: content_type };
  const command = new PutObjectCommand({ ...params, ContentLength: size_bytes });
  const signingDate = place.clock.now();
  return {
    url: await getSignedUrl(place.signer, command, {
      expiresIn: expires_in_seconds,
      signingDate,
      signableHeaders: new Set(['host', 'content-type', 'content-length']),
    }),
    headers: { 'content-type': content_type, 'content-length': String(size_bytes) },
    expires_at: expiry(signingDate, expires_in_seconds),
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

/** The storage counts from the whole second in the URL. */
function expiry(now: Date, seconds: number): Date {
  return new Date(Math.floor(now.getTime() / 1000 + seconds) * 1000);
}
