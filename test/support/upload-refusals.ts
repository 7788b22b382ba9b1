/**
 * Tests rejections of uploads on both storages: the code, exactly the details in the table of errors, and the message.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiErrorCode, apiErrors, type ErrorRow } from '../../runtime/core/errors.ts';
import type { UploadRecord } from '../../runtime/core/resources/upload.ts';
import { findUpload } from '../../runtime/db/uploads.ts';
import type { Bucket } from '../../runtime/platform/storage/bucket.ts';
import { type Answer, codeOf, createProject, newSubject } from './api-client.ts';
import { INGEST_BYTES_MAX, useApi } from './api-server.ts';
import { must } from './rows.ts';
import { useS3Ingest } from './s3-ingest.ts';

export const MIB = 2 ** 20;
export const bytes = Buffer.from('the bytes of an upload');
export const PNG = { 'content-type': 'image/png' };
/** Fields of a multipart upload. */
export const LARGE = { size_bytes: 15 * MIB, parts: 3 };

/** The response, and the expected details and message; undefined if the code has none. */
export type Refused = { answer: Answer; details?: unknown; says?: RegExp };
export type Refusal = [
  code: `${number} ${ApiErrorCode}`,
  says: string,
  ask: (bucket: Bucket) => Promise<Refused>,
];

/** Call it once per test file. */
export function useUploads() {
  const api = useApi();
  const owner = api.session(newSubject());
  const home = { path: '' };
  beforeAll(async () => {
    home.path = `/v1/projects/${(await createProject(owner)).project_slug}`;
  });
  const ask = (input: object, of = home.path) =>
    owner('POST', `${of}/uploads`, {
      content_type: 'image/png',
      size_bytes: bytes.length,
      ...input,
    });
  const make = async (input: object = {}, of = home.path): Promise<UploadRecord> =>
    (await ask(input, of)).body;
  const rowOf = async ({ upload_id }: UploadRecord) => must(await findUpload(api.db, upload_id));
  return {
    api,
    owner,
    home,
    ask,
    make,
    rowOf,
    at: ({ upload_id }: UploadRecord, what: string, body?: object) =>
      owner('POST', `${home.path}/uploads/${upload_id}/${what}`, body),
    /** Stores the body directly under the upload's key, for any transfer mode. */
    store: async (bucket: Bucket, upload: UploadRecord, body: Buffer = bytes): Promise<void> => {
      await bucket.write((await rowOf(upload)).ingest_key, body, { content_type: 'image/png' });
    },
  };
}

export type Uploads = ReturnType<typeof useUploads>;

export function describeRefusals({ api }: Uploads, refusals: readonly Refusal[]): void {
  const s3Ingest = useS3Ingest();
  describe.each([
    ['folder storage', () => api.deps().buckets.ingest],
    ['versitygw', s3Ingest],
  ] as const)('an upload on %s', (_name, bucketOf) => {
    it.each(refusals)('is refused with %s, which says %s', async (code, _how, refuse) => {
      const ingestMaxBytes = code.endsWith(' file_too_large') ? INGEST_BYTES_MAX : 20 * MIB;
      const buckets = { ...api.deps().buckets, ingest: bucketOf() };
      api.change({ buckets, settings: { ingestMaxBytes } });
      const { answer, details, says = /./ } = await refuse(bucketOf());
      expect(codeOf(answer), answer.text).toBe(code);
      const { error } = answer.body;
      expect(error.details).toEqual(details);
      expect(error.message).toMatch(says);
      const row: ErrorRow = apiErrors[error.code as ApiErrorCode];
      const promised = [...(row.details ?? [])].toSorted();
      expect(Object.keys(error.details ?? {}).toSorted()).toEqual(promised);
    });
  });
}
