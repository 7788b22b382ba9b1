/**
 * The additional error codes of the upload helper's browser client, with a sentence for a person; in a separate file
 * because browsers load it. Spec: Upload helper codes.
 */
export const browserClientErrors = {
  network_error: 'The network failed. Check the connection and try again.',
  aborted: 'The upload was stopped. Start it again when you want it.',
  detached: 'The page detached from this upload. Choose the same file again to resume it.',
  etag_missing: 'Storage hides the ETag header. Expose ETag in the bucket’s CORS rules.',
  file_mismatch:
    'This is not the file that the upload was started with, or it was changed meanwhile. Choose it again.',
  invalid_response: 'The server sent an unexpected response. Check the upload endpoint.',
} as const satisfies Record<string, string>;

export type BrowserClientErrorCode = keyof typeof browserClientErrors;
