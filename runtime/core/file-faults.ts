/** Upload failures caused by the file alone. */
import type { ProcessingErrorCode } from './errors.ts';

/** The same bytes would fail again, whoever sends them. Spec: Processing error codes. */
export const FILE_FAULTS = [
  'animated_not_supported',
  'decode_failed',
  'image_too_large',
  'unsupported_media_type',
] as const satisfies readonly ProcessingErrorCode[];
