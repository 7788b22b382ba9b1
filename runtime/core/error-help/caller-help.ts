/** Help with credentials: who is calling, and what the caller may do. Spec: Authentication. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const callerHelp = {
  unauthorized: {
    cause:
      'The request has no credential, or the credential is not valid: an API key that is mistyped, revoked or rotated, or whose project is suspended; an access token that is expired, from another issuer or badly signed; or an `x-identity-user-id` that is not the `sub` of the token. The response does not say which.',
    steps: [
      'Servers: send the whole key as `X-Api-Key: <key>` or `Authorization: Bearer <key>`. If both are sent, X-Api-Key counts.',
      'Check in the list of keys that the key is still active, and that the project is active.',
      'Dashboards: send a fresh access token as `Authorization: Bearer <token>` and its `sub` as `x-identity-user-id`.',
    ],
  },
  invalid_request_signature: {
    cause:
      'A session sent a write (POST, PUT, PATCH, DELETE), and `X-Request-Signature` is missing or does not match the request.',
    steps: [
      'Compute the hex HMAC-SHA256, with the request signing secret as the key, of method, line feed, pathname, line feed and body.',
      'Use the pathname exactly as it is sent, without the query; an empty body is the empty string.',
      'Sign the exact bytes that you send: JSON that is serialized a second time may differ.',
    ],
  },
  invalid_signature: {
    cause:
      'The signature of an upload URL, a storage event or a payment provider’s event does not match: the content was changed after it was signed, or it was signed with another secret.',
    steps: [
      'Upload URLs: use `proxy.put_url` exactly as it was returned, with `exp` and `sig` and nothing else.',
      'Events: sign the raw body with the secret that is configured in this installation, and send exactly those bytes.',
    ],
  },
  signature_expired: {
    cause: 'The upload URL was valid until its `exp`, and that time has passed.',
    steps: ['Create a new upload and use the URL that it returns.'],
  },
  library_session_not_allowed: {
    cause:
      'The bearer token is a library session (`ls1.…`), which works only on /v1/library, and this is another path.',
    steps: [
      'From your server: use an API key.',
      'From a dashboard: use a session of the identity provider.',
      'From the picker: call /v1/library paths only.',
    ],
  },
  browser_session_required: {
    cause:
      'An API key called an operation that is reserved for people: settings, keys, rotation of signing keys, billing. Keys are stored in programs, and a stolen key must not give access to more.',
    steps: ['Use the dashboard, or call with a session and its request signature.'],
  },
  api_key_required: {
    cause: 'A session called an operation that is only for servers, such as `GET /v1/key`.',
    steps: ['Call it from your server with an API key of the project.'],
  },
  forbidden: {
    cause: 'The API key is valid, but it was created without the scope that this operation needs.',
    steps: [
      'Compare `scopes` of the key in `GET /v1/key` with the scope of the operation in the reference.',
      'Create a key with that scope (a key created without `scopes` has all of them), and use it instead.',
    ],
  },
  staff_only: {
    cause: 'The session is valid, but the person is not in the list of staff.',
    steps: [
      'Sign in as staff.',
      'If you run the installation: add the `sub` of the person to `TINTYPE_STAFF_SUBJECTS`.',
    ],
  },
  staff_only_field: {
    cause:
      'An owner sent fields that only staff may set. No part of the request was applied, not even its other fields.',
    steps: [
      'Leave out the fields in `details.fields` and send the rest again.',
      'If they need another value, ask support.',
    ],
    details: { fields: ['storage_hard_limit_bytes', 'pricing_multiplier'] },
  },
  auth_unavailable: {
    cause:
      'The keys of the identity provider could not be fetched and no earlier ones are cached, so no session can be verified. API keys are not affected.',
    steps: [
      'Try again after a few seconds.',
      'If you run the installation: check that the API can reach the key set of the identity provider.',
    ],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
