// The part URLs that we presign equal those of the S3 client, including the signature.
import { UploadPartCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openS3, type S3Options } from '../../../../runtime/platform/storage/s3-client.ts';
import { signPartUrl } from '../../../../runtime/platform/storage/s3-part-url.ts';

const now = new Date('2026-03-04T05:06:07.890Z');
const credentials = { accessKeyId: 'AKIA/+EXAMPLE', secretAccessKey: 'secret/+=' };
const usual = { region: 'eu-central-1', clock: { now: () => now }, credentials };
const shapes: Record<string, S3Options> = {
  'AWS by host': { ...usual, addressing: 'host' },
  'AWS by path': { ...usual, addressing: 'path' },
  'another store by path': { ...usual, addressing: 'path', endpoint: 'http://127.0.0.1:9000' },
  'another store by host': { ...usual, addressing: 'host', endpoint: 'https://s3.example.com' },
  'a public address': {
    ...usual,
    addressing: 'path',
    endpoint: 'http://storage.internal:9000',
    publicEndpoint: 'https://files.example.com',
  },
  'temporary credentials': {
    ...usual,
    addressing: 'host',
    credentials: { ...credentials, sessionToken: 'token/+= a' } as typeof credentials,
  },
};

const [EVENING, MIDNIGHT] = ['2026-03-04T23:59:59.999Z', '2026-03-05T00:00:00.000Z'];

it('a signed part URL uses the date and credentials at the time of signing, as the AWS SDK does', async () => {
  let secretAccessKey = '';
  const rotating = async () => ({ ...credentials, secretAccessKey, expiration: new Date(0) });
  const options = { ...usual, addressing: 'path' as const };
  const place = {
    ...openS3({ ...options, credentials: rotating as unknown as typeof credentials }),
    bucket: 'my-ingest',
  };
  const part = { upload_id: 'u', part_number: 1, size_bytes: 5, expires_in_seconds: 60 };
  for (const [secret, time] of [
    ['one', EVENING],
    ['one', MIDNIGHT],
    ['two', MIDNIGHT],
    ['two', EVENING],
    ['one', EVENING],
  ] as const) {
    secretAccessKey = secret;
    const { signer } = openS3({ ...options, credentials: { ...credentials, secretAccessKey } });
    const facing = { Bucket: 'my-ingest', Key: 'a', UploadId: 'u', PartNumber: 1 };
    const theirs = await getSignedUrl(
      signer,
      new UploadPartCommand({ ...facing, ContentLength: 5 }),
      {
        expiresIn: 60,
        signingDate: new Date(time),
        signableHeaders: new Set(['host', 'content-length']),
      },
    );
    const ours = await signPartUrl({ place, key: 'a', part, now: new Date(time) });
    expect(parsed(ours), `${secret} at ${time}`).toEqual(parsed(theirs));
  }
});

it.each(Object.entries(shapes))(
  'a signed part URL equals that of the AWS SDK for %s',
  async (_name, options) => {
    const access = openS3(options);
    const place = { ...access, bucket: 'my-ingest' };
    const part = fc.record({
      upload_id: fc.stringMatching(/^[\x21-\x7e]{1,80}$/),
      part_number: fc.integer({ min: 1, max: 10_000 }),
      size_bytes: fc.integer({ min: 1, max: 5_000_000_000 }),
      expires_in_seconds: fc.integer({ min: 1, max: 900 }),
    });
    const property = fc.asyncProperty(part, async (terms) => {
      const key = 'prj_1/upl_2';
      const facing = { Bucket: place.bucket, Key: key, UploadId: terms.upload_id };
      const { part_number: PartNumber, size_bytes: ContentLength } = terms;
      const theirs = await getSignedUrl(
        access.signer,
        new UploadPartCommand({ ...facing, PartNumber, ContentLength }),
        {
          expiresIn: terms.expires_in_seconds,
          signingDate: now,
          signableHeaders: new Set(['host', 'content-length']),
        },
      );
      const ours = await signPartUrl({ place, key, part: terms, now });
      expect(parsed(ours)).toEqual(parsed(theirs));
    });
    await fc.assert(property, { numRuns: 30 });
  },
);

/** The order of parameters does not matter. */
function parsed(url: string) {
  const { origin, pathname, searchParams } = new URL(url);
  return { origin, pathname, query: Object.fromEntries(searchParams) };
}
