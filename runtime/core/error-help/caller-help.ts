/** Help with credentials: who is calling, and what they may do. Spec: Authentication. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const callerHelp = {
  unauthorized: {
    cause:
      'No credential came with the request, or it does not hold: an API key that is mistyped, revoked or rotated, or whose project is suspended; an access token that is expired, of another issuer or badly signed; or an `x-identity-user-id` that is not the `sub` of the token. Which of them is not told.',
    steps: [
      'Servers: send the whole key as `X-Api-Key: <key>` or `Authorization: Bearer <key>`. When both are sent, X-Api-Key counts.',
      'Look in the list of keys whether it is still active, and whether the project is.',
      'Dashboards: send a fresh access token as `Authorization: Bearer <token>` and its `sub` as `x-identity-user-id`.',
    ],
  },
  invalid_request_signature: {
    cause:
      'A session wrote something (POST, PUT, PATCH, DELETE) and `X-Request-Signature` is missing or does not fit the request.',
    steps: [
      'Compute hex HMAC-SHA256, with the request signing secret as the key, of method, line feed, pathname, line feed and body.',
      'Take the pathname as it is sent and without the query; an empty body is the empty text.',
      'Sign the very bytes that are sent: JSON that is printed a second time may differ.',
    ],
  },
  invalid_signature: {
    cause:
      'The signature of an upload URL, of a storage event or of a payment provider’s event does not fit: something was changed after it was signed, or another secret signed it.',
    steps: [
      'Upload URLs: use `proxy.put_url` exactly as it was returned, with `exp` and `sig` and nothing else.',
      'Events: sign the raw body with the secret that this installation is configured with, and send those very bytes.',
    ],
  },
  signature_expired: {
    cause: 'The upload URL was valid until its `exp`, and that time has passed.',
    steps: ['Create a new upload and use the URL that it returns.'],
  },
  library_session_not_allowed: {
    cause:
      'The bearer token is a library session (`ls1.…`), which works on /v1/library only, and this is another path.',
    steps: [
      'From your server: use an API key.',
      'From a dashboard: use a session of the identity provider.',
      'From the picker: call /v1/library paths only.',
    ],
  },
  browser_session_required: {
    cause:
      'An API key called an operation that only people use: settings, keys, rotation of signing keys, billing. Keys are in programs, and a stolen one must not open more doors.',
    steps: ['Do it in the dashboard, or call with a session and its request signature.'],
  },
  api_key_required: {
    cause: 'A session called an operation that is meant for servers alone, such as `GET /v1/key`.',
    steps: ['Call it from your server with an API key of the project.'],
  },
  forbidden: {
    cause: 'The API key is valid, but it was made without the scope that this operation needs.',
    steps: [
      'Look at `scopes` of the key in `GET /v1/key`, and at the scope of the operation in the reference.',
      'Create a key with that scope (a key without `scopes` has them all), and use it instead.',
    ],
  },
  staff_only: {
    cause: 'The session is valid, but its person is not in the list of staff.',
    steps: [
      'Sign in as staff.',
      'Operators: add the `sub` of the person to `TINTYPE_STAFF_SUBJECTS`.',
    ],
  },
  staff_only_field: {
    cause:
      'An owner sent fields that only staff may set. Nothing of the request was applied, not even its other fields.',
    steps: [
      'Leave out the fields in `details.fields` and send the rest again.',
      'Ask support, if they need another value.',
    ],
    details: { fields: ['storage_hard_limit_bytes', 'pricing_multiplier'] },
  },
  auth_unavailable: {
    cause:
      'The keys of the identity provider could not be fetched and no earlier ones are left, so that no session can be verified. API keys are not affected.',
    steps: [
      'Try again after a few seconds.',
      'Operators: look whether the key set of the identity provider is reachable from the API.',
    ],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
