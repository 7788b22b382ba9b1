/** Help with uploads that failed or expired, by their error_code. Spec: Processing error codes. */
import type { processingErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

const UPLOAD_ANEW = 'Create a new upload and send the image; you may reuse the `file_slug`.';

export const processingHelp: HelpTable<typeof processingErrors> = {
  unsupported_media_type: {
    cause:
      'The bytes are not a supported image, or not of the declared `content_type`. Not supported: HEIC, JPEG with 12 bits or arithmetic coding, rare encodings of TIFF and BMP, compressed SVG (.svgz), and SVG with embedded bitmaps or a DOCTYPE.',
    steps: [
      'Check the actual format of the file: its name may suggest another one.',
      'Export it as JPEG, PNG, WebP or plain SVG.',
      UPLOAD_ANEW,
    ],
  },
  animated_not_supported: {
    cause:
      'The image has more than one frame or page: an animated GIF, WebP, PNG or AVIF, or a multi-page TIFF.',
    steps: ['Export a single frame or page.', UPLOAD_ANEW],
  },
  image_too_large: {
    cause:
      'The image has more pixels or a longer side than its format may have here, or decoding it needs more memory or time than one image may use. An SVG is too large if it has too many elements, layers, filters or levels.',
    steps: [
      'Scale the image down: to at most 128 megapixels for JPEG and PNG, 50 for most others, 28 for AVIF; and to at most 65,500 pixels per side, 16,384 for AVIF.',
      'Simplify an SVG: flatten groups, merge paths, remove filters.',
      UPLOAD_ANEW,
    ],
  },
  processing_timeout: {
    cause:
      'Processing was tried three times and did not finish in time. This happens with very large images in slow formats and very intricate SVGs.',
    steps: [
      'Scale the image down, or export it as JPEG or PNG.',
      'Simplify an SVG: use fewer outlines and letters, and no filters.',
      UPLOAD_ANEW,
    ],
  },
  decode_failed: {
    cause:
      'The file begins as an image but is corrupt or truncated. An SVG has no size (width and height, or a viewBox) or no namespace (xmlns), or is not well-formed XML.',
    steps: [
      'Open the file in an image program; if it opens, export it again.',
      'Compare its size with the source: a copy may be incomplete.',
      UPLOAD_ANEW,
    ],
  },
  ingest_size_mismatch: {
    cause:
      'The stored object is not `size_bytes` long: the bytes that were sent do not match the declaration.',
    steps: ['Declare the exact size of the file, in bytes.', UPLOAD_ANEW],
  },
  sha256_mismatch: {
    cause: 'The stored bytes do not have the declared `sha256`.',
    steps: ['Compute the SHA-256 over the exact bytes that you send.', UPLOAD_ANEW],
  },
  file_too_large: {
    cause: 'The stored object is above the upload limit of this installation.',
    steps: ['Scale the image down or compress it more.', UPLOAD_ANEW],
  },
  ingest_object_missing: {
    cause:
      'Processing did not find the bytes: they never arrived, or were deleted from the bucket too early.',
    steps: [
      UPLOAD_ANEW,
      'If you run the installation: no lifecycle rule may delete objects of the ingest bucket within a day.',
    ],
  },
  processing_abandoned: {
    cause:
      'Processing this image failed repeatedly in an unexpected way, such as a crash of the decoder. Outages of the database or storage do not count.',
    steps: [
      'Export the image again with another program, and upload the result.',
      'If the error persists, report the `upload_id`.',
    ],
  },
  session_expired: {
    cause:
      'No bytes arrived before `expires_at`, or the upload was aborted. Its status is `expired`.',
    steps: [
      'Create a new upload and send the bytes at once; on slow connections, use parts, which have 12 hours.',
    ],
  },
};
