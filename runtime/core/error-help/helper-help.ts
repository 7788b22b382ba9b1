/** Help with the upload helper, its browser client and the webhook verifier. Spec: Upload helper codes; Verifier failure reasons. */
import type { browserClientErrors } from '../browser-client-errors.ts';
import type { helperErrors, verifierReasons } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const helperHelp: HelpTable<typeof helperErrors> = {
  unknown_route: {
    cause:
      'The client named a route that the router does not have, or none where there are several.',
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
    cause: 'The file is above the `maxSize` of the route.',
    steps: ['Send at most `details.max_bytes` bytes, or raise `maxSize`.'],
    details: { max_bytes: 8_388_608 },
  },
  invalid_input: {
    cause: 'The input that the client sent along does not fit the schema of the route.',
    steps: ['Compare what the client sends with the schema on your server.'],
  },
  forbidden: {
    cause: 'The middleware of the route refused this upload, with the status that it chose.',
    steps: [
      'Sign in, where the site asks for it.',
      'As its developer: look at what the middleware checks.',
    ],
  },
  middleware_failed: {
    cause: 'The middleware of the route threw something that is not a refusal.',
    steps: ['Read the log of your own server: the error is there and nowhere else.'],
  },
  invalid_token: {
    cause:
      'The token of the upload was changed or cut short, or the API key was rotated since it was made.',
    steps: ['Prepare the upload again.'],
  },
  upload_expired: {
    cause:
      'The upload and its token are past their time. A file in one piece whose bytes came in time is published all the same.',
    steps: ['Prepare the upload again.'],
  },
  processing_failed: {
    cause:
      'The image was sent and could not be processed, or the upload was aborted. The code of the answer is the upload’s own `error_code`, such as decode_failed.',
    steps: ['Look up that code: it says what is wrong with the image.'],
  },
  on_upload_complete_failed: {
    cause: 'The file is published, and the hook `onUploadComplete` on your server threw.',
    steps: [
      'Read the log of your own server and mend the hook.',
      'Complete again: the hook is called once more.',
    ],
  },
  api_unreachable: {
    cause:
      'Your server could not reach the image service, or got a 5xx from it; the code of the answer is the service’s own.',
    steps: [
      'Try again after a second.',
      'Check the address of the service in the settings of the helper.',
    ],
  },
};

export const browserClientHelp: HelpTable<typeof browserClientErrors> = {
  network_error: {
    cause:
      'The connection broke or was refused while the browser sent something, and trying again did not help.',
    steps: [
      'Check the connection, then start the upload again.',
      'If only uploads fail: the CORS rules of the bucket must allow your site.',
    ],
  },
  aborted: {
    cause: 'The page stopped the upload before the service had taken all of its bytes.',
    steps: ['Start it again when it is wanted.'],
  },
  detached: {
    cause: 'The page let go of the upload, which goes on to exist on the server.',
    steps: ['Choose the same file again: the upload is resumed.'],
  },
  etag_missing: {
    cause:
      'The storage answered a part without an ETag that scripts may read, so that the parts cannot be joined.',
    steps: ['Add `ETag` to the exposed headers in the CORS rules of the bucket.'],
  },
  file_mismatch: {
    cause:
      'An upload is to be resumed with another file than the one that it was begun with; or the file was changed or taken away since it was chosen, and browsers read no such file.',
    steps: ['Choose the file again, or start a new upload.'],
  },
  invalid_response: {
    cause:
      'The upload endpoint answered something that is not an answer of the upload helper, such as a page in HTML; or the storage refused the bytes in words of its own.',
    steps: [
      'Check the address of the endpoint, and that no sign-in page stands before it.',
      'Where the message says that the storage answered, look up that status in its manual.',
    ],
  },
};

export const verifierHelp: HelpTable<typeof verifierReasons> = {
  missing_header: {
    cause:
      'The request that you verify has no signature header. It did not come from the service, or a proxy took the header off.',
    steps: [
      'Pass the signature header of the request to the verifier, and answer 400 where there is none.',
    ],
  },
  malformed_header: {
    cause: 'The signature header is not `t=<unix>,v1=<hex>`.',
    steps: ['Pass it on exactly as it was received.'],
  },
  timestamp_out_of_tolerance: {
    cause:
      'The signature was made too long ago or in the future, by more than 300 seconds. It may be an old request that somebody repeats.',
    steps: [
      'Check the clock of your server.',
      'Verify when the request arrives, not when a queue gets to it.',
    ],
  },
  signature_mismatch: {
    cause:
      'No `v1` of the header fits the body: the secret is another one, or the body was changed.',
    steps: [
      'Verify the raw bytes of the body, before anything parses them.',
      'Use the `callback_secret` of this project; after a rotation, the new one.',
    ],
  },
  invalid_body: {
    cause: 'The signature fits, and the body is not `{ id, event, created_at, data }` in JSON.',
    steps: ['Check that the secret signs nothing but webhooks of this service.'],
  },
};
