/** Help with requests that cannot be read, come twice or too often, or meet trouble on our side. Spec: Codes by status. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const requestHelp = {
  invalid_request: {
    cause:
      'A field of the body, a parameter of the query or a header is missing, is not known here, or is not of the form that is asked for. Nothing was done.',
    steps: [
      'Go through `details.issues`: every wrong field is named at once, `path` says where it is (`parts[0].etag`; empty is the body as a whole) and `message` says what was expected there.',
      'Correct all of them and send the request again.',
      'Where `details` is missing, `message` says what is wrong with the request as a whole, such as a Content-Encoding.',
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
      'The body is not JSON in UTF-8, or it is JSON that two readers could take for different things: a key that stands twice in one object, a key `__proto__`, or more than 64 levels.',
    steps: [
      'Read `message`: where the JSON is ambiguous, it names the key.',
      'Let a JSON library write the body, in UTF-8 and without a byte order mark.',
      'Send it with `Content-Type: application/json`.',
    ],
  },
  invalid_cursor: {
    cause:
      'The `cursor` was not issued by this list, was shortened or changed on its way, or was issued for another project, filter or sort.',
    steps: [
      'Send `next_cursor` of the page before as it is, URL-encoded, with the same filters and the same sort.',
      'Otherwise start again without a cursor.',
    ],
  },
  payload_too_large: {
    cause:
      'The body is longer than this operation takes, and is refused as soon as that is known: 256 KiB for JSON (4 MiB for a list of parts), 1 MiB for events of storages and payment providers, and for an upload URL the `size_bytes` that the session declared.',
    steps: [
      'Send at most `details.max_bytes` bytes.',
      'Image bytes do not belong in JSON: create an upload and send them to the URL that it answers.',
    ],
    details: { max_bytes: 262_144 },
  },
  idempotency_key_reused: {
    cause:
      'Within the last day this `Idempotency-Key` came with another request: another path, another query or another body.',
    steps: [
      'Make a new key, such as a UUID, for every new piece of work.',
      'Send an old key only to repeat the very same request.',
    ],
  },
  idempotency_in_progress: {
    cause:
      'A request with this `Idempotency-Key` arrived a moment ago and is not finished. Working on it twice could do its work twice.',
    steps: [
      'Wait as many seconds as `Retry-After` says.',
      'Repeat the same request with the same key: you get the answer of the first one.',
    ],
  },
  precondition_failed: {
    cause:
      'The request carries `If-Match` with the `ETag` of an older state: since you read the record, somebody else has changed or deleted it, or it was never there. Your change was not made.',
    steps: [
      'Read the record again and keep its `ETag`; where it is not there, leave `If-Match` out to make it.',
      'Look whether your change is still what you want.',
      'Send it with the new `ETag` as `If-Match`, or without `If-Match` to write whatever is there.',
    ],
  },
  rate_limited: {
    cause:
      'Too many requests of one kind came within a minute: signed URLs of one project (60), writes to one project, or failed authentications from one address. All processes count together. Requests for access are counted by the address they come from and, over an hour, by the e-mail address they name. A signing key also cannot be rotated again while too many older ones still verify.',
    steps: [
      'Wait as many seconds as `Retry-After` says; asking sooner is refused as well.',
      'Continue more slowly, and let several workers of yours share one pace.',
      'After failed authentications: stop and mend the credential, instead of trying it again. Until the minute ends good credentials are let in from that address as before, and bad ones are answered 429; behind proxies, name them in TINTYPE_TRUSTED_PROXIES, so that callers do not share one.',
      'Signed URLs live up to an hour: keep them, instead of minting one for every view.',
    ],
  },
  not_found: {
    cause:
      'Nothing answers at this path for these credentials: the path or method is misspelled, the id or slug does not exist, or it belongs to another organization or project. What is not yours looks like what does not exist.',
    steps: [
      'Compare method and path with the reference; paths have no slash at the end.',
      'With an API key: ask `GET /v1/key` which project it belongs to, and use that `project_slug`.',
      'With a session: look for the project in `GET /v1/projects`.',
      'Paths of staff exist only where the staff API is on.',
    ],
  },
  internal: {
    cause:
      'Something failed that is not your fault and that we did not foresee. The cause is in our log under the `x-request-id` of the answer, and never in the answer.',
    steps: [
      'Try again after a second, then with longer pauses; send an `Idempotency-Key` with a POST, so that it is done once.',
      'If it stays, report the `x-request-id` and the time.',
    ],
  },
  storage_unavailable: {
    cause:
      'The database or the object storage could not be reached in time. A write was not done, or it was done and could not be confirmed.',
    steps: [
      'Try again after a second, then with longer pauses; send an `Idempotency-Key` with a POST, so that it is done once.',
      'Operators: `GET /readyz` says which of the two is away.',
    ],
  },
  query_timeout: {
    cause:
      'The database worked on this request for too long, so that it was stopped. It is busy, or the question reads too much at once.',
    steps: [
      'Try again after a few seconds.',
      'Ask for less: a smaller `limit`, a narrower time range, more filters.',
    ],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
