/**
 * Help with requests that cannot be read, are repeated or too frequent, or fail because of a problem on our side. Spec:
 * Codes by status.
 */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const requestHelp = {
  invalid_request: {
    cause:
      'A field of the body, a query parameter or a header is missing, unknown, or not in the required form. Nothing was done.',
    steps: [
      'Go through `details.issues`. It lists every wrong field, up to 100 (20 unknown ones in one object): `path` says where the field is (`parts[0].etag`; empty is the body as a whole) and `message` says what was expected there.',
      'Correct all of them and send the request again.',
      'If it says `expected at most … values in all`, or `… fields in one object`, the body is larger than any that the operation takes: compare it with the operation in `/docs`, or send a list in several calls.',
      'If `details` is missing, `message` says what is wrong with the request as a whole, such as a Content-Encoding.',
    ],
    details: {
      issues: [
        {
          path: 'name',
          message: 'required: a text of 1 to 120 characters without control characters',
        },
        { path: 'opacity', message: 'expected a number from 0 to 100' },
      ],
    },
  },
  invalid_json: {
    cause:
      'The body is not JSON in UTF-8, or it is JSON that two parsers could read differently: an object with a duplicate key, a key `__proto__`, or more than 64 levels.',
    steps: [
      'Read `message`: if the JSON is ambiguous, it names the key.',
      'Use a JSON library to write the body, in UTF-8 and without a byte order mark.',
      'Send it with `Content-Type: application/json`.',
    ],
  },
  invalid_cursor: {
    cause:
      'The `cursor` was not issued by this list, was truncated or changed, or was issued for another project, filter or sort.',
    steps: [
      'Send `next_cursor` of the previous page unchanged, URL-encoded, with the same filters and the same sort.',
      'Otherwise start again without a cursor.',
    ],
  },
  payload_too_large: {
    cause:
      'The body is longer than this operation accepts, and is refused as soon as that is known. The limit is 256 KiB for JSON (4 MiB for a list of parts), 1 MiB for events of storages and payment providers, and for an upload URL the `size_bytes` that the session declared.',
    steps: [
      'Send at most `details.max_bytes` bytes.',
      'Image bytes do not belong in JSON: create an upload and send them to the URL that it returns.',
    ],
    details: { max_bytes: 262_144 },
  },
  idempotency_key_reused: {
    cause:
      'Within the last day, this `Idempotency-Key` was sent with a different request: another path, query or body.',
    steps: [
      'Create a new key, such as a UUID, for every new operation.',
      'Send an old key only to repeat exactly the same request.',
    ],
  },
  idempotency_in_progress: {
    cause:
      'A request with this `Idempotency-Key` began less than a minute ago and is not finished, or its process was killed. Processing it again could do its work twice.',
    steps: [
      'Wait as many seconds as `Retry-After` says.',
      'Repeat the same request with the same key, for a little more than a minute if need be: you get the response of the first one. If that was killed, its key is free a minute after it began, and your request does the work.',
    ],
  },
  precondition_failed: {
    cause:
      'The request carries `If-Match` with the `ETag` of an older state: since you read the record, somebody else has changed or deleted it, or it never existed. Your change was not made.',
    steps: [
      'Read the record again and keep its `ETag`. If the record does not exist, leave `If-Match` out to create it.',
      'Check that you still want the change.',
      'Send it with the new `ETag` as `If-Match`, or without `If-Match` to overwrite the current state.',
    ],
  },
  rate_limited: {
    cause:
      'Too many requests of one kind came within a minute: signed URLs of one project (60), writes to one project, or failed authentications from one IP address. All processes count together. Access requests are counted by the IP address they come from and, over an hour, by the e-mail address they name. A signing key also cannot be rotated again while too many older ones still verify. Rarely, large bodies from all callers fill the memory that a process has for them; `message` says so then.',
    steps: [
      'Wait the number of seconds in `Retry-After`; earlier requests are refused as well.',
      'Continue more slowly, and let your workers share one rate limit.',
      'After failed authentications: correct the credential instead of trying it again. Until the minute ends, valid credentials from that address still work, and invalid ones are answered 429. Behind proxies, list them in TINTYPE_TRUSTED_PROXIES, so that callers do not share one address.',
      'Signed URLs live up to an hour: reuse them instead of minting one for every view.',
    ],
  },
  not_found: {
    cause:
      'Nothing exists at this path for these credentials: the path or method is misspelled, the id or slug does not exist, or it belongs to another organization or project. What belongs to others is answered as if it did not exist.',
    steps: [
      'Compare the method and path with the reference; paths have no slash at the end.',
      'With an API key: ask `GET /v1/key` which project it belongs to, and use that `project_slug`.',
      'With a session: look for the project in `GET /v1/projects`.',
      'Staff paths exist only if the staff API is enabled.',
    ],
  },
  internal: {
    cause:
      'An unexpected failure on our side. Our log has the cause under the `x-request-id` of the response; the response never contains it.',
    steps: [
      'Try again after a second, then with longer pauses; send an `Idempotency-Key` with a POST, so that it is done once.',
      'If the error persists, report the `x-request-id` and the time.',
    ],
  },
  storage_unavailable: {
    cause:
      'The database or the object storage could not be reached in time, or a secret in the database could not be decrypted because its key is not configured, or is another one under the same id. A write was not done, or it was done but could not be confirmed.',
    steps: [
      'Try again after a second, then with longer pauses; send an `Idempotency-Key` with a POST, so that it is done once.',
      'If you run the installation: `GET /readyz` says which of the two is away; `tintype doctor` also names a missing or different key.',
    ],
  },
  query_timeout: {
    cause:
      'The database took too long for this request, so the query was stopped. The database is busy, or the query reads too much at once.',
    steps: [
      'Try again after a few seconds.',
      'Request less: use a smaller `limit`, a narrower time range, or more filters.',
    ],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
