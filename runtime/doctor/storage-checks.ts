/**
 * Whether both buckets work as the service uses them: write, read and delete; and for browsers, which PUT to presigned
 * URLs of an exact length and read the ETag of what they sent.
 */
import { randomBytes } from 'node:crypto';
import { UPLOAD_SINGLE_LIFETIME_SECONDS } from '../core/limits.ts';
import type { Bucket, Buckets, PresignedPut } from '../platform/storage/bucket.ts';
import { writeBucketCors } from '../platform/storage/s3-cors.ts';
import { ANSWER_MS_MAX, type Check, type Finding, ok, wrong } from './check.ts';
import type { StorageSubject, Subject } from './subject.ts';

type BucketName = keyof Buckets;
type Opened = StorageSubject & { name: BucketName; bucket: Bucket; cors: Subject['cors'] };

const ENDPOINT = 'check TINTYPE_S3_ENDPOINT, the AWS credentials and what they are allowed to do';
const PUBLIC = 'check TINTYPE_S3_PUBLIC_ENDPOINT: it must lead to the same buckets';

export const storageChecks: readonly Check<Subject>[] = [
  ...bucketChecks('ingest'),
  onBucket('ingest', { name: 'presigned uploads', run: tryPresigned, advice: PUBLIC }),
  onBucket('ingest', { name: 'uploads by browsers (CORS)', run: tryCors, advice: PUBLIC }),
  ...bucketChecks('content'),
];

function bucketChecks(name: BucketName): Check<Subject>[] {
  return [
    onBucket(name, { name: 'there', run: findBucket, advice: ENDPOINT }),
    onBucket(name, { name: 'written, read, deleted', run: tryObject, advice: ENDPOINT }),
  ];
}

type OnBucket = Pick<Check<Subject>, 'name' | 'advice'> & {
  run(opened: Opened): Promise<Finding>;
};

function onBucket(name: BucketName, check: OnBucket): Check<Subject> {
  return {
    ...check,
    area: `${name} bucket`,
    run: async ({ storage, cors }) => {
      if (storage === undefined) {
        const advice = 'set TINTYPE_S3_ENDPOINT, for example https://s3.eu-central-1.amazonaws.com';
        return wrong('TINTYPE_S3_ENDPOINT is not set', advice);
      }
      return check.run({ ...storage, name, bucket: storage.buckets[name], cors });
    },
  };
}

async function findBucket({ bucket, s3, name }: Opened): Promise<Finding> {
  await bucket.check();
  return ok(s3 === undefined ? 'a folder' : s3.names[name]);
}

/** Outside the key space of the service: no sweep takes it for one of its own. */
const newKey = () => `doctor/${randomBytes(8).toString('hex')}`;
const CONTENT_TYPE = 'application/octet-stream';

async function tryObject({ bucket }: Opened): Promise<Finding> {
  const key = newKey();
  const bytes = randomBytes(64);
  await bucket.write(key, bytes, { content_type: CONTENT_TYPE, size_bytes: bytes.length });
  const isSame = (await bucket.read(key))?.equals(bytes) === true;
  await bucket.delete(key);
  if (!isSame)
    return wrong('the bytes that were read are not the bytes that were written', ENDPOINT);
  const isGone = (await bucket.head(key)) === undefined;
  return isGone
    ? ok('works')
    : wrong('a deleted object is still there', 'switch off object lock and legal hold');
}

/** As long as for uploads: another check covers a wrong clock. */
const PRESIGNED_SECONDS = UPLOAD_SINGLE_LIFETIME_SECONDS;
const ORIGIN = 'https://tintype-doctor.example';

function presign({ bucket }: Opened, key: string): Promise<PresignedPut> {
  const terms = {
    content_type: CONTENT_TYPE,
    size_bytes: 2,
    expires_in_seconds: PRESIGNED_SECONDS,
  };
  return bucket.presignPut(key, terms);
}

async function put(url: string, body: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: 'PUT',
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    body,
    headers: { 'content-type': CONTENT_TYPE, ...headers },
  });
  await answer.body?.cancel();
  return answer;
}

async function tryPresigned(opened: Opened): Promise<Finding> {
  const key = newKey();
  const { url } = await presign(opened, key);
  const longer = await put(url, 'longer').finally(() => opened.bucket.delete(key));
  const right = await put(url, 'ok').finally(() => opened.bucket.delete(key));
  if (longer.ok) {
    const advice =
      'use a storage that checks signed headers: uploads could be larger than declared';
    return wrong('a body is accepted whose length is not the signed one', advice);
  }
  return right.ok
    ? ok('accepted with the signed length, refused with another')
    : wrong(`a presigned PUT is refused with ${right.status}`, PUBLIC);
}

async function tryCors(opened: Opened): Promise<Finding> {
  const fault = await findCorsFault(opened);
  if (fault === undefined) return ok('PUT is allowed, ETag is exposed');
  const { s3, name, cors } = opened;
  const advice = 'run `tintype doctor --fix-cors`, which replaces the rules of this bucket';
  if (cors === 'check' || s3 === undefined) return wrong(fault, advice);
  await writeBucketCors(s3.access, s3.names[name]);
  const left = await findCorsFault(opened);
  return left === undefined
    ? ok('the rule was written: PUT is allowed, ETag is exposed')
    : wrong(`the rule was written, but ${left}`, 'wait a minute and run this again');
}

/** As a browser sees it, at the address that browsers use. */
async function findCorsFault(opened: Opened): Promise<string | undefined> {
  const key = newKey();
  const { url } = await presign(opened, key);
  const asked = await fetch(url, {
    method: 'OPTIONS',
    // Browsers do not follow redirects of a preflight.
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    headers: {
      origin: ORIGIN,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'content-type',
    },
  });
  await asked.body?.cancel();
  if (!isForUs(asked)) return `pages of other origins may not upload (preflight ${asked.status})`;
  const methods = asked.headers.get('access-control-allow-methods') ?? '';
  if (!/\bPUT\b|\*/.test(methods)) return 'PUT is not among the allowed methods';
  const stored = await put(url, 'ok', { origin: ORIGIN }).finally(() => opened.bucket.delete(key));
  const exposed = stored.headers.get('access-control-expose-headers') ?? '';
  return isForUs(stored) && /\betag\b/i.test(exposed)
    ? undefined
    : 'the ETag is not exposed, which multipart uploads need';
}

function isForUs({ headers }: Response): boolean {
  return ['*', ORIGIN].includes(headers.get('access-control-allow-origin') ?? '');
}
