/** The Content-Security-Policy of static pages: no scripts, and all assets come from this origin. */
export const READING_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
