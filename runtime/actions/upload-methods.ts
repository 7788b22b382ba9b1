/**
 * The three methods of sending an upload's bytes: one signed PUT to storage, separately signed parts, or a PUT through
 * the service. A session has exactly one, described in the answer that creates it. Spec: Upload session; Limits, Uploads.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError } from '../core/errors.ts';
import { inChunks } from '../core/in-chunks.ts';
import {
  MULTIPART_PART_URL_LIFETIME_SECONDS,
  UPLOAD_MULTIPART_LIFETIME_SECONDS,
  UPLOAD_SINGLE_LIFETIME_SECONDS,
} from '../core/limits.ts';
import {
  type CreateUpload,
  multipartPartSize,
  type UploadPartsRecord,
  type UploadRecord,
} from '../core/resources/upload.ts';
import { PROXY_UPLOAD_PATH, signUploadUrl } from '../core/signing/upload-url.ts';
import type { NewUpload, UploadRow } from '../db/uploads.ts';
import type { Bucket } from '../platform/storage/bucket.ts';

export type UploadAddresses = {
  /** Origin of the API, for the URL that completes a multipart upload. */
  readonly baseUrl: string;
  /** Origin of proxy uploads. */
  readonly uploadBaseUrl: string;
  /** Keys that sign proxy URLs: the first one signs, all are accepted. */
  readonly uploadUrlKeys: readonly Uint8Array[];
  readonly proxyMaxBytes: number;
};

export type UploadMethodDeps = { readonly ingest: Bucket; readonly addresses: UploadAddresses };
type Described = Pick<UploadRecord, 'direct' | 'multipart' | 'proxy'>;
/** What is known of the method before the session exists. */
type StartedMethod = Pick<NewUpload, 'storage_upload_id' | 'part_count' | 'part_size'> &
  Pick<Described, 'direct'>;

type StartedSession = UploadRow & Pick<StartedMethod, 'direct'>;

export type UploadMethod = {
  mode: 'direct' | 'proxy';
  lifetime_seconds: number;
  /** Refuses what this method does not accept, and begins the upload at the storage if necessary. */
  begin(deps: UploadMethodDeps, input: CreateUpload, ingestKey: string): Promise<StartedMethod>;
  describe(deps: UploadMethodDeps, upload: StartedSession, projectSlug: string): Promise<Described>;
};

export function chooseUploadMethod({ mode, parts = 1 }: CreateUpload): UploadMethod {
  if (mode === 'proxy') return proxy;
  return parts > 1 ? multipart : direct;
}

const direct: UploadMethod = {
  mode: 'direct',
  lifetime_seconds: UPLOAD_SINGLE_LIFETIME_SECONDS,
  // Signed before the session exists: signing may have to fetch credentials, and a failure must
  // reserve nothing.
  begin: async ({ ingest }, { content_type, size_bytes }, ingestKey) => {
    const { url, headers, expires_at } = await ingest.presignPut(ingestKey, {
      content_type,
      size_bytes,
      expires_in_seconds: UPLOAD_SINGLE_LIFETIME_SECONDS,
    });
    return {
      direct: {
        put_url: url,
        headers: {
          'content-type': headers['content-type'] ?? content_type,
          'content-length': headers['content-length'] ?? String(size_bytes),
        },
        expires_at: expires_at.toISOString(),
      },
    };
  },
  describe: async (_deps, { direct: signed }) => ({ direct: signed }),
};

const multipart: UploadMethod = {
  mode: 'direct',
  lifetime_seconds: UPLOAD_MULTIPART_LIFETIME_SECONDS,
  begin: async ({ ingest }, { content_type, size_bytes, parts = 1 }, ingestKey) => {
    const part_size = multipartPartSize(size_bytes, parts);
    const storage_upload_id = await ingest.createMultipart(ingestKey, { content_type });
    return { storage_upload_id, part_count: parts, part_size };
  },
  describe: async (deps, upload, projectSlug) => ({
    multipart: {
      upload_id: upload.storage_upload_id ?? '',
      part_size: upload.part_size ?? upload.size_bytes,
      complete_url: `${deps.addresses.baseUrl}/v1/projects/${projectSlug}/uploads/${upload.upload_id}/complete`,
      ...(await signParts(deps.ingest, upload)),
    },
  }),
};

const proxy: UploadMethod = {
  mode: 'proxy',
  lifetime_seconds: UPLOAD_SINGLE_LIFETIME_SECONDS,
  begin: async ({ addresses }, { size_bytes }) => {
    const max_bytes = addresses.proxyMaxBytes;
    if (size_bytes > max_bytes) {
      throw new ServiceError('proxy_upload_too_large', { details: { max_bytes, mode: 'proxy' } });
    }
    return {};
  },
  describe: async ({ addresses }, { upload_id, expires_at }) => {
    const [key] = addresses.uploadUrlKeys;
    if (key === undefined) throw new TypeError('there is no key that signs upload URLs');
    const exp = Math.floor(expires_at.getTime() / 1000);
    const query = new URLSearchParams({
      exp: String(exp),
      sig: signUploadUrl({ key, upload_id, exp }),
    });
    return {
      proxy: { put_url: `${addresses.uploadBaseUrl}${PROXY_UPLOAD_PATH}${upload_id}?${query}` },
    };
  },
};

/** A URL for every part, valid for 15 minutes or the rest of the session. */
export async function signParts(ingest: Bucket, upload: UploadRow): Promise<UploadPartsRecord> {
  const { storage_upload_id, part_count, part_size, remaining_seconds } = upload;
  if (storage_upload_id === null || part_count === null || part_size === null) {
    throw new ServiceError('not_multipart');
  }
  const lifetime = Math.min(MULTIPART_PART_URL_LIFETIME_SECONDS, Math.floor(remaining_seconds));
  const numbers = Array.from({ length: part_count }, (_, index) => index + 1);
  const signed = await signInBatches(numbers, async (part_number) => {
    const { url, expires_at } = await ingest.presignPart(upload.ingest_key, {
      upload_id: storage_upload_id,
      part_number,
      size_bytes: Math.min(part_size, upload.size_bytes - (part_number - 1) * part_size),
      expires_in_seconds: lifetime,
    });
    return { part_number, url, expires_at };
  });
  const earliest = Math.min(...signed.map(({ expires_at }) => expires_at.getTime()));
  return {
    parts: signed.map(({ part_number, url }) => ({ part_number, url })),
    urls_expire_at: new Date(earliest).toISOString(),
  };
}

const SIGNED_AT_ONCE = 50;

/** Signing is CPU work: it yields to the event loop between batches. */
async function signInBatches<T>(
  numbers: readonly number[],
  sign: (partNumber: number) => Promise<T>,
): Promise<T[]> {
  const signed: T[] = [];
  for (const some of inChunks(numbers, SIGNED_AT_ONCE)) {
    signed.push(...(await Promise.all(some.map(sign))));
    await turn();
  }
  return signed;
}
