/** Codes of which the same file would be refused again. */
export const IN_VAIN: ReadonlySet<string | null> = new Set([
  'animated_not_supported',
  'decode_failed',
  'file_too_large',
  'image_too_large',
  'proxy_upload_too_large',
  'unsupported_content_type',
  'unsupported_media_type',
]);
