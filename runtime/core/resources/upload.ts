/** An upload session, from declaration to published file. Spec: Upload session; Uploads. */
import { z } from 'zod';
import { type ProcessingErrorCode, processingErrors, ServiceError } from '../errors.ts';
import { MULTIPART_PART_BYTES_MIN, MULTIPART_PARTS_MAX, UPLOAD_BYTES_MIN } from '../limits.ts';
import { uploadStatuses } from '../states.ts';
import { folderForm } from './forms.ts';
import { sentPartList } from './part-list.ts';
import {
  contentType,
  expected,
  fileSlug,
  isRecordValue,
  oneOf,
  pageQuery,
  plainText,
  requestBody,
  requestQuery,
  times,
  timestamp,
  wholeNumber,
} from './wire.ts';

const errorCodes = Object.keys(processingErrors) as ProcessingErrorCode[];

/** What to send to storage; a part's URL with its number. */
const uploadPart = z.object({ part_number: z.int(), url: z.string() });

/** How the bytes travel: exactly one of the three, in the create response only. */
const ways = {
  direct: z
    .object({
      put_url: z.string(),
      headers: z.object({ 'content-type': z.string(), 'content-length': z.string() }),
      expires_at: timestamp,
    })
    .optional(),
  multipart: z
    .object({
      /** The storage's own id, not the session's. */
      upload_id: z.string(),
      part_size: z.int(),
      parts: z.array(uploadPart),
      complete_url: z.string(),
      urls_expire_at: timestamp,
    })
    .optional(),
  proxy: z.object({ put_url: z.string() }).optional(),
};

/** An upload session. */
export const uploadRecord = z.object({
  upload_id: z.string(),
  project_slug: z.string(),
  file_slug: z.string(),
  status: z.enum(uploadStatuses),
  mode: z.enum(['direct', 'proxy']),
  content_type: z.string(),
  size_bytes: z.int(),
  error_code: z.enum(errorCodes).nullable(),
  expires_at: timestamp,
  ready_at: timestamp.nullable(),
  ...ways,
  sha256: z.string().nullable(),
  library: z.string(),
  folder: z.string(),
  file_id: z.string().nullable(),
  revision: z.int().nullable(),
  ...times,
});

/** An upload session on the wire. */
export type UploadRecord = z.infer<typeof uploadRecord>;

/**
 * Create. The action checks content type, library and folder, which have codes of their own
 * (unsupported_content_type, library_not_found, invalid_folder).
 */
export const createUploadBody = requestBody({
  content_type: contentType,
  size_bytes: wholeNumber({ min: UPLOAD_BYTES_MIN }),
  file_slug: fileSlug.optional(),
  sha256: z
    .string({ error: expected('64 hex digits') })
    .regex(/^[0-9a-fA-F]{64}$/, { error: 'expected 64 hex digits' })
    .toLowerCase()
    .optional(),
  mode: oneOf(['direct', 'proxy']).default('direct'),
  parts: wholeNumber({ min: 1, max: MULTIPART_PARTS_MAX }).optional(),
  library: plainText('a library slug, or default').optional(),
  folder: z
    .string({ error: expected('a folder path') })
    .meta(folderForm)
    .optional(),
}).refine(({ mode, parts = 1 }) => mode !== 'proxy' || parts === 1, {
  path: ['parts'],
  error: 'several parts work in mode direct only; leave them out, or use mode direct',
  when: isRecordValue,
});

/** The requested upload, with defaults. */
export type CreateUpload = z.infer<typeof createUploadBody>;

/** Complete; `parseParts` checks the list, as a wrong one is refused with invalid_parts. */
export const completeUploadBody = requestBody({ parts: z.unknown().meta(sentPartList) })
  .partial()
  .optional();

/**
 * Size of every part but the last, at least 5 MiB. Throws invalid_part_size if the file has too few
 * bytes for so many parts.
 */
export function multipartPartSize(sizeBytes: number, parts: number): number {
  if (parts === 1) return sizeBytes;
  const min_bytes = MULTIPART_PART_BYTES_MIN;
  const max_parts = Math.ceil(sizeBytes / min_bytes);
  if (parts <= max_parts) return Math.max(Math.ceil(sizeBytes / parts), min_bytes);
  const instead = max_parts === 1 ? '' : `, or ask for at most ${max_parts}`;
  throw new ServiceError('invalid_part_size', {
    message: `${sizeBytes} bytes do not make ${parts} parts of at least ${min_bytes} bytes (5 MiB) each but the last. Leave parts out, and send the file with one PUT${instead}.`,
    details: { min_bytes, max_parts },
  });
}

/** Response of the operation that signs parts again. */
export const uploadPartsRecord = z.object({
  parts: z.array(uploadPart),
  urls_expire_at: timestamp,
});

/** Re-signed part URLs on the wire. */
export type UploadPartsRecord = z.infer<typeof uploadPartsRecord>;

/** Query of the list of sessions. */
export const listUploadsQuery = requestQuery({
  status: oneOf(uploadStatuses).optional(),
  ...pageQuery,
});
