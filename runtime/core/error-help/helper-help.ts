/** Help with the upload helper, its browser client and the webhook verifier. Spec: Upload helper codes; Verifier failure reasons. */
import type { browserClientErrors } from '../browser-client-errors.ts';
import type { helperErrors, verifierReasons } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const helperHelp: HelpTable<typeof helperErrors> = {
  unknown_route: {
    cause:
      'The client named a route that the router does not have, or named none although there are several.',
    steps: ['Compare the name with the routes on your server, and deploy both together.'],
  },
  unsupported_content_type: {
    cause: 'The route has no rule for files of this type.',
    steps: [
      'Choose a file of one of the types in `details.accepted`.',
      'Or add the type to the route.',
    ],
    details: { accepted: ['image/jpeg', 'image/png'] },
  },
  file_too_large: {
    cause: 'The file is larger than the `maxSize` of the route.',
    steps: ['Send at most `details.max_bytes` bytes, or raise `maxSize`.'],
    details: { max_bytes: 8_388_608 },
  },
  invalid_input: {
    cause: 'The input that the client sent does not match the schema of the route.',
    steps: ['Compare what the client sends with the schema on your server.'],
  },
  forbidden: {
    cause: 'The middleware of the route refused this upload, with a status of its choice.',
    steps: [
      'Sign in, if the site asks for it.',
      'If you develop the site: look at what the middleware checks.',
    ],
  },
  middleware_failed: {
    cause: 'The middleware of the route threw an error that is not a refusal.',
    steps: ['Read the log of your own server: only it has the error.'],
  },
  invalid_token: {
    cause:
      'The token of the upload was changed or truncated, or the API key was rotated after the token was created.',
    steps: ['Prepare the upload again.'],
  },
  upload_expired: {
    cause:
      'The upload and its token have expired. A file sent in one piece whose bytes arrived in time is still published.',
    steps: ['Prepare the upload again.'],
  },
  processing_failed: {
    cause:
      'The image was sent but could not be processed, or the upload was aborted. The code of the response is the upload’s own `error_code`, such as decode_failed.',
    steps: ['Look up that code: it says what is wrong with the image.'],
  },
  on_upload_complete_failed: {
    cause: 'The file is published, but the hook `onUploadComplete` on your server threw an error.',
    steps: [
      'Read the log of your own server and fix the hook.',
      'Complete again: the hook is called once more.',
    ],
  },
  api_unreachable: {
    cause:
      'Your server could not reach the image service, or got a 5xx from it; in that case the code of the response is the service’s own.',
    steps: [
      'Try again after a second.',
      'Check the URL of the service in the settings of the helper.',
    ],
  },
};

export const browserClientHelp: HelpTable<typeof browserClientErrors> = {
  network_error: {
    cause:
      'The connection broke or was refused while the browser was sending, and retries failed too.',
    steps: [
      'Check the connection, then start the upload again.',
      'If only uploads fail: the CORS rules of the bucket must allow your site.',
    ],
  },
  aborted: {
    cause: 'The page stopped the upload before the service had received all of its bytes.',
    steps: ['Start the upload again if you still need it.'],
  },
  detached: {
    cause: 'The page detached from the upload, which continues to exist on the server.',
    steps: ['Choose the same file again: the upload is resumed.'],
  },
  etag_missing: {
    cause:
      'The storage’s response to a part has no ETag that scripts may read, so the parts cannot be joined.',
    steps: ['Add `ETag` to the exposed headers in the CORS rules of the bucket.'],
  },
  file_mismatch: {
    cause:
      'The upload was resumed with a different file than it was started with; or the file was changed or removed after it was chosen, and browsers cannot read such a file.',
    steps: ['Choose the file again, or start a new upload.'],
  },
  invalid_response: {
    cause:
      'The upload endpoint sent a response that is not from the upload helper, such as an HTML page; or the storage refused the bytes with a message of its own.',
    steps: [
      'Check the URL of the endpoint, and that no sign-in page is in front of it.',
      'If the message says that the storage answered, look up that status in its manual.',
    ],
  },
};

export const verifierHelp: HelpTable<typeof verifierReasons> = {
  missing_header: {
    cause:
      'The request that you verify has no signature header. It did not come from the service, or a proxy removed the header.',
    steps: [
      'Pass the signature header of the request to the verifier, and answer 400 if there is none.',
    ],
  },
  malformed_header: {
    cause: 'The signature header is not `t=<unix>,v1=<hex>`.',
    steps: ['Pass it on exactly as it was received.'],
  },
  timestamp_out_of_tolerance: {
    cause:
      'The signature is more than 300 seconds in the past or in the future. It may be an old request that somebody is replaying.',
    steps: [
      'Check the clock of your server.',
      'Verify the request when it arrives, not later from a queue.',
    ],
  },
  signature_mismatch: {
    cause:
      'No `v1` of the header matches the body: the secret is a different one, or the body was changed.',
    steps: [
      'Verify the raw bytes of the body, before anything parses them.',
      'Use the `callback_secret` of this project; after a rotation, the new one.',
    ],
  },
  invalid_body: {
    cause: 'The signature matches, but the body is not `{ id, event, created_at, data }` in JSON.',
    steps: ['Check that the secret signs only webhooks of this service.'],
  },
};
