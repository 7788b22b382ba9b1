/** The Content-Security-Policy of pages that are only read: nothing runs on them, and all that they load is ours. */
export const READING_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
