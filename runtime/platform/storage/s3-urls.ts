/** Presigned URLs: the type and the length are signed, so that the storage itself refuses anything else. */
import { PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { PartTerms, PresignedPut, PutTerms } from './bucket.ts';
import type { S3Place } from './s3-client.ts';

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
  const facing = { Bucket: place.bucket, Key: key, UploadId: part.upload_id };
  const { part_number: PartNumber, size_bytes: ContentLength } = part;
  const command = new UploadPartCommand({ ...facing, PartNumber, ContentLength });
  // A part has no type of its own, and a browser sends whatever its blob has.
  const signed = signing(place, part.expires_in_seconds, ['content-length']);
  const url = await getSignedUrl(place.signer, command, signed.options);
  return { url, expires_at: signed.expires_at };
}

function signing({ clock }: S3Place, expiresIn: number, headers: readonly string[]) {
  const signingDate = clock.now();
  const signableHeaders = new Set(['host', ...headers]);
  const expires_at = new Date(Math.floor(signingDate.getTime() / 1000 + expiresIn) * 1000);
  return { expires_at, options: { expiresIn, signingDate, signableHeaders } };
}
