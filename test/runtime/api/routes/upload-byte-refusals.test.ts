// Spec: Uploads; Errors. Rejected bytes, sent to storage and through the service.
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { UploadRecord } from '../../../../runtime/core/resources/upload.ts';
import { type Bucket, StorageUnavailable } from '../../../../runtime/platform/storage/bucket.ts';
import {
  bytes,
  describeRefusals,
  LARGE,
  PNG,
  type Refusal,
  useUploads,
} from '../../../support/upload-refusals.ts';

const uploads = useUploads();
const { api, owner, home, make, at, store } = uploads;

function put({ proxy }: UploadRecord, headers: Record<string, string> = PNG, raw = bytes) {
  const { pathname, search } = new URL(proxy?.put_url ?? '');
  return api.send({ method: 'PUT', path: pathname + search, raw, headers });
}

async function accepted(bucket: Bucket, input: object = {}): Promise<UploadRecord> {
  const upload = await make(input);
  await store(bucket, upload, Buffer.alloc(upload.size_bytes, bytes));
  await api.db.query(
    `update uploads set status = 'uploaded', uploaded_at = now() where upload_id = $1`,
    [upload.upload_id],
  );
  return upload;
}

async function expire({ upload_id }: UploadRecord): Promise<void> {
  const change = 'update uploads set expires_at = clock_timestamp() where upload_id = $1';
  await api.db.query(change, [upload_id]);
}

async function ended(input: object): Promise<UploadRecord> {
  const upload = await make(input);
  await expire(upload);
  return (await owner('GET', `${home.path}/uploads/${upload.upload_id}`)).body;
}

const ofCompletion: Refusal[] = [
  [
    '409 ingest_object_missing',
    'until when the bytes may arrive',
    async () => {
      const upload = await make();
      return { answer: await at(upload, 'complete'), details: { expires_at: upload.expires_at } };
    },
  ],
  [
    '409 ingest_size_mismatch',
    'both sizes',
    async (bucket) => {
      const upload = await make();
      await store(bucket, upload, Buffer.from('abc'));
      return {
        answer: await at(upload, 'complete'),
        details: { size_bytes: bytes.length, stored_bytes: 3 },
      };
    },
  ],
  [
    '409 upload_not_pending',
    'the status',
    async (bucket) => ({
      answer: await at(await accepted(bucket), 'abort'),
      details: { status: 'uploaded' },
    }),
  ],
  [
    '409 upload_not_resumable',
    'the status',
    async (bucket) => ({
      answer: await at(await accepted(bucket, LARGE), 'parts'),
      details: { status: 'uploaded' },
    }),
  ],
  [
    '410 upload_expired',
    'when it expired',
    async () => {
      const upload = await ended({});
      return { answer: await at(upload, 'complete'), details: { expires_at: upload.expires_at } };
    },
  ],
  [
    '410 upload_expired',
    'when it expired, to a request for part URLs',
    async () => {
      const upload = await ended(LARGE);
      return { answer: await at(upload, 'parts'), details: { expires_at: upload.expires_at } };
    },
  ],
  ...['complete', 'parts'].map(
    (what): Refusal => [
      '410 upload_expired',
      `at ${what} that it was aborted, and when`,
      async () => {
        const upload = await make(LARGE);
        const { updated_at } = (await at(upload, 'abort')).body;
        const answer = await at(upload, what);
        expect(answer.body.error.details).toEqual({ expires_at: updated_at });
        // Still the same after the session has expired.
        await expire(upload);
        return {
          answer: await at(upload, what),
          details: { expires_at: updated_at },
          says: /was aborted/,
        };
      },
    ],
  ),
  [
    '422 sha256_mismatch',
    'both digests',
    async (bucket) => {
      const upload = await make({ sha256: '0'.repeat(64) });
      await store(bucket, upload);
      const stored_sha256 = createHash('sha256').update(bytes).digest('hex');
      return {
        answer: await at(upload, 'complete'),
        details: { sha256: '0'.repeat(64), stored_sha256 },
      };
    },
  ],
];

const ofProxy: Refusal[] = [
  [
    '401 invalid_signature',
    'which URL to use',
    async () => {
      const { proxy, ...upload } = await make({ mode: 'proxy' });
      return { answer: await put({ ...upload, proxy: { put_url: `${proxy?.put_url}x` } }) };
    },
  ],
  [
    '401 signature_expired',
    'what to do',
    async () => {
      const upload = await make({ mode: 'proxy' });
      await expire(upload);
      return { answer: await put(upload) };
    },
  ],
  [
    '409 upload_not_pending',
    'the status to a second PUT',
    async () => {
      const upload = await make({ mode: 'proxy' });
      await put(upload);
      return { answer: await put(upload), details: { status: 'uploaded' } };
    },
  ],
  [
    '411 length_required',
    'which length is expected',
    async () => ({
      answer: await put(await make({ mode: 'proxy' }), { ...PNG, 'transfer-encoding': 'chunked' }),
      details: { size_bytes: bytes.length },
      says: /Content-Length: 22,/,
    }),
  ],
  [
    '413 payload_too_large',
    'which length is expected, to a longer body',
    async () => ({
      answer: await put(await make({ mode: 'proxy' }), PNG, Buffer.concat([bytes, bytes])),
      details: { max_bytes: bytes.length },
    }),
  ],
  [
    '409 ingest_size_mismatch',
    'both sizes, to a shorter body',
    async () => ({
      answer: await put(await make({ mode: 'proxy' }), PNG, bytes.subarray(1)),
      details: { size_bytes: bytes.length, stored_bytes: bytes.length - 1 },
    }),
  ],
  ...[
    ['image/jpeg', 'the other type'],
    [undefined, 'none'],
  ].map(
    ([got, sent]): Refusal => [
      '415 content_type_mismatch',
      `the declared type, to ${sent}`,
      async () => ({
        answer: await put(
          await make({ mode: 'proxy' }),
          got === undefined ? {} : { 'content-type': got },
        ),
        details: { expected: 'image/png', got: got ?? null },
        says: /Content-Type: image\/png,/,
      }),
    ],
  ),
  [
    '422 sha256_mismatch',
    'both digests, to a proxy PUT',
    async () => ({
      answer: await put(await make({ mode: 'proxy', sha256: '0'.repeat(64) })),
      details: { sha256: '0'.repeat(64), stored_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    }),
  ],
  [
    '503 storage_unavailable',
    'that it is not the fault of the caller',
    async (bucket) => {
      const upload = await make();
      const head = () => Promise.reject(new StorageUnavailable('gone'));
      api.change({ buckets: { ...api.deps().buckets, ingest: { ...bucket, head } } });
      return { answer: await at(upload, 'complete') };
    },
  ],
];

describeRefusals(uploads, [...ofCompletion, ...ofProxy]);
