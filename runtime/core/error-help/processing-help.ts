/** Help with uploads that failed or expired, by their error_code. Spec: Processing error codes. */
import type { processingErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

const UPLOAD_ANEW = 'Create a new upload and send it; it may have the same `file_slug`.';

export const processingHelp: HelpTable<typeof processingErrors> = {
  unsupported_media_type: {
    cause:
      'The bytes are not an image that is taken, or not of the declared `content_type`. Refused are HEIC, JPEG of 12 bits or with arithmetic coding, rare codings of TIFF and BMP, compressed SVG (.svgz), and SVG with embedded bitmaps or a DOCTYPE.',
    steps: [
      'Look at what the file really is: its name may say something else.',
      'Export it as JPEG, PNG, WebP or plain SVG.',
      UPLOAD_ANEW,
    ],
  },
  animated_not_supported: {
    cause:
      'The image has more than one frame or page: an animated GIF, WebP, PNG or AVIF, or a TIFF of several pages.',
    steps: ['Export a single frame or page.', UPLOAD_ANEW],
  },
  image_too_large: {
    cause:
      'The image has more pixels than its format may have here, or a longer side, or decoding it costs more memory or time than one image may take. An SVG is too large when it has too many elements, layers, filters or levels.',
    steps: [
      'Scale the image down: up to 128 megapixels for JPEG and PNG, 50 for most others, 28 for AVIF; and up to 65,500 pixels a side, 16,384 for AVIF.',
      'Simplify an SVG: flatten groups, merge paths, take out filters.',
      UPLOAD_ANEW,
    ],
  },
  processing_timeout: {
    cause:
      'Processing was tried three times and did not finish in its time, as very large images of slow formats and very intricate SVGs do not.',
    steps: [
      'Scale the image down, or export it as JPEG or PNG.',
      'Simplify an SVG: fewer outlines and letters, no filters.',
      UPLOAD_ANEW,
    ],
  },
  decode_failed: {
    cause:
      'The file begins as an image and is not whole: it is corrupt or cut short. An SVG lacks its size (width and height, or a viewBox) or its namespace (xmlns), or is not well-formed XML.',
    steps: [
      'Open the file in an image program; if it shows, export it again.',
      'Compare its size with the source: a copy may have ended early.',
      UPLOAD_ANEW,
    ],
  },
  ingest_size_mismatch: {
    cause: 'The stored object is not `size_bytes` long: what was sent is not what was declared.',
    steps: ['Declare the exact size of the file, in bytes.', UPLOAD_ANEW],
  },
  sha256_mismatch: {
    cause: 'The stored bytes do not have the declared `sha256`.',
    steps: ['Compute the SHA-256 over the very bytes that you send.', UPLOAD_ANEW],
  },
  file_too_large: {
    cause: 'The stored object is above the upload limit of this installation.',
    steps: ['Scale the image down or compress it more.', UPLOAD_ANEW],
  },
  ingest_object_missing: {
    cause:
      'The bytes were gone when processing looked for them: they never arrived, or were deleted from the bucket before their time.',
    steps: [
      UPLOAD_ANEW,
      'Operators: no lifecycle rule may delete objects of the ingest bucket within a day.',
    ],
  },
  processing_abandoned: {
    cause:
      'Processing this image failed again and again in a way that is not foreseen, such as a decoder that crashes. Outages of database or storage do not count.',
    steps: [
      'Export the image again with another program, and upload that.',
      'If it stays, report the `upload_id`.',
    ],
  },
  session_expired: {
    cause:
      'No bytes arrived before `expires_at`, or the upload was aborted. Its status is `expired`.',
    steps: [
      'Create a new upload and send the bytes at once; where lines are slow, use parts, which have 12 hours.',
    ],
  },
};
