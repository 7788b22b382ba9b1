/** Help with uploads, from the session to the last byte. Spec: Upload session; Uploads. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

const EXPIRES_AT = '2026-11-02T09:45:00.000Z';
const SHA256 = '4f2c7d0e9b1a5c38d6f04e7a92b3c81d5e60f7a8b9c2d3e4f5061728394a5b6c';
const STORED_SHA256 = '9b1c03de5a7f42681c0e9d7b3f5a8246e1d0c9b8a7f6e5d4c3b2a19087f6e5d4';

export const uploadHelp = {
  unsupported_content_type: {
    cause:
      'The `content_type` is not one of the image types that this installation accepts. HEIC is never accepted; SVG and AVIF can be turned off.',
    steps: [
      'Convert the image to one of the types in `details.accepted`, such as JPEG or PNG.',
      'Create the upload with the actual type of the bytes: it is checked.',
    ],
    details: {
      accepted: [
        'image/jpeg',
        'image/png',
        'image/webp',
        'image/avif',
        'image/gif',
        'image/tiff',
        'image/bmp',
        'image/svg+xml',
      ],
    },
  },
  storage_quota_exceeded: {
    cause:
      'The stored files of the project, the reservations of its current uploads and this upload together exceed its storage limit. The limit comes from the plan, or was set by staff.',
    steps: [
      'Compare the four numbers in `details`, all in bytes.',
      'Delete files that are not needed, or abort uploads that will not be finished: both free their storage at once.',
      'Otherwise upgrade the plan.',
    ],
    details: {
      limit_bytes: 1_000_000_000,
      in_use_bytes: 996_400_000,
      reserved_bytes: 2_500_000,
      size_bytes: 2_481_920,
    },
  },
  file_too_large: {
    cause:
      'The declared `size_bytes` exceeds the upload limit of this installation, 2,000,000 for an SVG, or the `max_file_bytes` of the library session. Nothing was reserved.',
    steps: [
      'Send at most `details.max_bytes` bytes: scale the image down or compress it more.',
      'If you run the installation: the limit is `TINTYPE_INGEST_MAX_BYTES`; the limit for SVG is fixed.',
    ],
    details: { max_bytes: 250_000_000 },
  },
  proxy_upload_too_large: {
    cause:
      'The upload uses `mode` proxy, where all bytes go through the API, and is larger than this mode accepts.',
    steps: [
      'Leave `mode` out, or send `direct`: the bytes then go directly to the storage.',
      'Otherwise send at most `details.max_bytes` bytes.',
    ],
    details: { max_bytes: 100_000_000, mode: 'proxy' },
  },
  invalid_part_size: {
    cause:
      'With this many `parts`, the parts of the file would be smaller than 5 MiB, which object storages refuse for all parts but the last.',
    steps: [
      'Leave `parts` out, and send the file in one PUT.',
      'Or ask for at most `details.max_parts` parts.',
    ],
    details: { min_bytes: 5_242_880, max_parts: 3 },
  },
  upload_not_found: {
    cause: 'The project has no upload with this id: it is mistyped, or belongs to another project.',
    steps: [
      'Use the `upload_id` (`upl_…`) that was returned when the upload was created, not the `file_slug` and not the storage’s own id.',
      'Look for it in the list of uploads of the project.',
    ],
  },
  parts_required: {
    cause: 'The upload was created with `parts`, but the complete call has no list of parts.',
    steps: [
      'Send `{"parts": [{"part_number": 1, "etag": "…"}, …]}` with every part from 1 to `details.part_count`.',
      'The ETag of a part is in the storage’s response to its PUT. In browsers, the bucket’s CORS rules must expose it.',
    ],
    details: { part_count: 4 },
  },
  invalid_parts: {
    cause:
      'The list of parts is not correct: parts are missing, listed more than once, not part of this upload or unreadable; or the storage does not have a part with that ETag. The upload can still be completed.',
    steps: [
      'Read `details`: `missing`, `doubled` and `unknown` are part numbers, `issues` names entries that could not be read.',
      'If all of them are empty, the storage refused the list: send the parts that it names in `message` again.',
      'Complete again with every part from 1 to `details.part_count`, each once and with the ETag of its last PUT.',
    ],
    details: { part_count: 4, missing: [3], doubled: [2], unknown: [], issues: [] },
  },
  not_multipart: {
    cause:
      'The upload was created without `parts`, but the call sends a list of parts or requests new URLs for them.',
    steps: [
      'Send the whole file to its single URL, then complete without a body.',
      'For several parts, create an upload with `parts` above 1.',
    ],
  },
  multipart_complete_failed: {
    cause:
      'The storage has the parts, but refused to join them. Its reason is at the end of `message`.',
    steps: [
      'Check that every part but the last one has exactly `part_size` bytes.',
      'Send any doubtful parts again, and complete with their new ETags.',
      'If the error persists, abort the upload and create a new one.',
    ],
  },
  ingest_object_missing: {
    cause:
      'The complete call arrived, but the storage has no bytes for the upload: the PUT was not sent, failed, or went elsewhere.',
    steps: [
      'Look at the storage’s response to your PUT: 403 means that a header differs from the returned ones, or that the URL has expired.',
      'Send the bytes to `put_url` with exactly the returned `headers`, before `details.expires_at`.',
      'Complete again.',
    ],
    details: { expires_at: EXPIRES_AT },
  },
  ingest_size_mismatch: {
    cause:
      'The number of bytes that arrived, or the Content-Length of the PUT, is not the declared `size_bytes`. The upload is still open.',
    steps: [
      'Compare `details.size_bytes` with `details.stored_bytes`: fewer stored bytes mean a truncated file; more often mean an added encoding, such as multipart/form-data.',
      'Send the whole file itself as the body to the same URL, then complete again.',
      'If the declaration was wrong, abort and create a new upload.',
    ],
    details: { size_bytes: 2_481_920, stored_bytes: 2_097_152 },
  },
  sha256_mismatch: {
    cause:
      'The upload declared a `sha256`, and the bytes that arrived have another one: they were changed in transit, or the digest belongs to another file.',
    steps: [
      'Compute the SHA-256 of the file again, over its bytes and as 64 hex digits.',
      'If it matches the declared one: send the bytes again, and complete.',
      'If not: abort, and create a new upload with the correct digest.',
      'A multipart upload has `failed` with this error: its parts were joined and cannot be sent again. Create a new one.',
    ],
    details: { sha256: SHA256, stored_sha256: STORED_SHA256 },
  },
  upload_not_pending: {
    cause:
      'The call needs an upload that waits for bytes, and this one no longer does: it was completed, is being processed, or has ended.',
    steps: [
      'Read the upload: `ready` means that its file is published, and there is nothing left to do.',
      'For other bytes, create a new upload; with the same `file_slug` it becomes the next revision.',
    ],
    details: { status: 'processing' },
  },
  upload_not_resumable: {
    cause:
      'The call requests new URLs for parts, but the upload no longer accepts parts: it was already completed.',
    steps: ['Read the upload and follow its `status`.', 'For other bytes, create a new upload.'],
    details: { status: 'ready' },
  },
  upload_expired: {
    cause:
      'The upload was open for 15 minutes (one PUT) or 12 hours (parts), and that time has passed or nearly so; or it was aborted.',
    steps: [
      'Create a new upload and send all bytes again.',
      'On slow connections, use parts: the upload lives longer and its URLs can be renewed.',
    ],
    details: { expires_at: EXPIRES_AT },
  },
  length_required: {
    cause:
      'The PUT to the upload URL has no Content-Length, for example because it is a stream of unknown length.',
    steps: [
      'Send `Content-Length` with `details.size_bytes`.',
      'Pass the file or a buffer to your HTTP library instead of a stream, or set the header yourself.',
    ],
    details: { size_bytes: 2_481_920 },
  },
  content_type_mismatch: {
    cause:
      'The Content-Type of the PUT to the upload URL is not the declared one. Many libraries set a Content-Type by themselves.',
    steps: ['Set `Content-Type` to `details.expected` and send the bytes again.'],
    details: { expected: 'image/jpeg', got: 'application/octet-stream' },
  },
  invalid_token: {
    cause:
      'The token of the upload helper was changed or truncated, or its API key was rotated after the token was created.',
    steps: ['Prepare the upload again, and use the token of that response unchanged.'],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
