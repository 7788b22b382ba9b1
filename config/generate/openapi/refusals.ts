/**
 * Every refusal that an endpoint can return: its own, and those that follow from its callers and its parameters.
 */
import { inboundCredential } from '../../../runtime/api/auth/inbound-signature.ts';
import { isOpen, tokenCredential } from '../../../runtime/api/auth/principal.ts';
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import { apiHelp } from '../../../runtime/core/error-help/api-help.ts';
import {
  type ApiErrorCode,
  apiErrors,
  type ErrorRow,
  errorEnvelope,
  processingErrors,
  SESSION_FAILURE_STATUS,
} from '../../../runtime/core/errors.ts';
import type { Json } from './document.ts';

/** The error envelope. Spec: Errors, Envelope. */
export const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', description: 'The code that a client branches on.' },
        message: { type: 'string', description: 'For people: what is wrong and what to do.' },
        details: {
          type: 'object',
          description:
            'Data specific to the code; for `invalid_request`, a list `issues` of `{ path, message }`.',
          additionalProperties: true,
        },
      },
    },
  },
  externalDocs: {
    description: 'Every code: the cause, an example, and what to do',
    url: '/docs/errors',
  },
} as const;

/** A code with its status and meaning, and the name and details of its example. */
export type Refusal = Omit<ErrorRow, 'details'> & {
  readonly code: string;
  readonly example: string;
  readonly details?: Details;
};

type Details = Readonly<Record<string, unknown>>;

export function refusal(code: ApiErrorCode): Refusal {
  const { details: _keys, ...row }: ErrorRow = apiErrors[code];
  const { details }: { details?: Details | undefined } = apiHelp[code];
  return { code, example: code, ...row, ...(details === undefined ? {} : { details }) };
}

/** One response per status of these refusals, with their codes. */
export function refusalResponses(refusals: readonly Refusal[]): Json {
  const byStatus = Map.groupBy(refusals, ({ status }) => status);
  const sorted = [...byStatus].toSorted(([one], [other]) => one - other);
  return Object.fromEntries(sorted.map(([status, found]) => [status, response(found)]));
}

function response(refusals: readonly Refusal[]): Json {
  const codes = [...new Set(refusals.map(({ code }) => code))];
  return {
    description: codes.map((code) => `[\`${code}\`](/docs/errors/${code})`).join(', '),
    headers: {
      ...answerHeaders,
      Link: { $ref: '#/components/headers/Link' },
      ...(refusals.some(({ retry_after }) => retry_after) ? retryAfter : {}),
    },
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            { properties: { error: { properties: { code: { enum: codes } } } } },
          ],
        },
        examples: Object.fromEntries(
          refusals.map(({ example }) => [example, { $ref: `#/components/examples/${example}` }]),
        ),
      },
    },
  };
}

const retryAfter = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } as const;

/** Sent with every response. Spec: Errors, Envelope. */
export const answerHeaders = {
  'x-request-id': { $ref: '#/components/headers/x-request-id' },
  'Cache-Control': { $ref: '#/components/headers/Cache-Control' },
} as const;

export const headers = {
  'Cache-Control': {
    description:
      'Whether and how long the response may be cached: not at all, unless the operation says otherwise.',
    schema: { type: 'string', const: 'no-store' },
  },
  ETag: {
    description: 'The version of the current settings: send it as `If-Match` with a write.',
    schema: { type: 'string' },
  },
  'x-request-id': {
    description: 'Identifies the request in the logs: the value that was sent, or a generated one.',
    schema: { type: 'string' },
  },
  Link: {
    description: 'The page about this code, with `rel="help"`.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before you try again.',
    schema: { type: 'integer', minimum: 1 },
  },
} as const;

/** An example envelope for each code that an operation can return. */
export function refusalExamples(refusals: readonly Refusal[]): Json {
  const sorted = refusals.toSorted((one, other) => (one.example < other.example ? -1 : 1));
  const examples = sorted.map(({ example, code, message, details }) => [
    example,
    { value: errorEnvelope({ code, message, details }) },
  ]);
  return Object.fromEntries(examples);
}

/** The refusals of an endpoint. Spec: Conventions (most operations can also answer …). */
export function refusalsOf(endpoint: Endpoint): readonly Refusal[] {
  const codes = [
    ...endpoint.errors,
    ...ofReading(endpoint),
    ...ofCallers(endpoint),
    ...ofWaiting(endpoint),
    ...ofConditions(endpoint),
  ];
  const own = codes.map(refusal);
  return endpoint.path.endsWith('/uploads/{id}/complete') ? [...own, ...sessionFailures] : own;
}

/**
 * A failed session returns its own error_code; an expired one returns 410. Spec: Codes by status
 * (422).
 */
const sessionFailures: readonly Refusal[] = Object.entries(processingErrors)
  .filter(([code]) => code !== 'session_expired')
  .map(([code, { message }]) => ({
    code,
    example: `upload_failed_${code}`,
    status: SESSION_FAILURE_STATUS,
    message,
  }));

function ofReading({ path, query }: Endpoint): readonly ApiErrorCode[] {
  const hasCursor = query !== null && 'shape' in query && 'cursor' in (query.shape as object);
  return [
    'invalid_request',
    'invalid_json',
    'payload_too_large',
    ...(hasCursor ? (['invalid_cursor'] as const) : []),
    ...(path.includes('{slug}') ? (['not_found'] as const) : []),
  ];
}

function ofCallers({ method, auth }: Endpoint): readonly ApiErrorCode[] {
  if (isOpen(auth) || inboundCredential(auth) !== undefined) return [];
  if (tokenCredential(auth) !== undefined) return ofTokens;
  const isForSessions = auth.includes('dash') || auth.includes('staff');
  const isForKeys = auth.some((credential) => credential.startsWith('key'));
  return [
    'unauthorized',
    'library_session_not_allowed',
    'auth_unavailable',
    ...(isForSessions && method !== 'GET' ? (['invalid_request_signature'] as const) : []),
    ...(isForSessions ? [] : (['api_key_required'] as const)),
    ...(isForKeys ? [] : (['browser_session_required'] as const)),
    ...(auth.some((credential) => credential.startsWith('key:')) ? (['forbidden'] as const) : []),
    ...(auth.includes('staff') ? (['staff_only', 'not_found'] as const) : []),
  ];
}

/** Spec: Authentication, Rules 6. */
const ofTokens: readonly ApiErrorCode[] = [
  'unauthorized',
  'session_expired',
  'session_revoked',
  'minting_key_revoked',
  'invalid_session',
  'project_suspended',
  'library_sessions_disabled',
];

/** An addition of ours: conditional writes. */
function ofConditions(endpoint: Endpoint): readonly ApiErrorCode[] {
  return isConditional(endpoint) ? ['precondition_failed'] : [];
}

export function isConditional({ method, moving }: Endpoint): boolean {
  return moving !== null && (method === 'PATCH' || method === 'PUT');
}

/**
 * Every request below /v1 asks the database; other endpoints decide alone, or report what is
 * unavailable in their own format.
 */
function ofWaiting({ method, path, auth }: Endpoint): readonly ApiErrorCode[] {
  const isKnown = !isOpen(auth);
  return [
    ...(path.startsWith('/v1/') ? (['storage_unavailable', 'query_timeout'] as const) : []),
    ...(isKnown ? (['rate_limited'] as const) : []),
    ...(isKnown && method === 'POST' && inboundCredential(auth) === undefined
      ? (['idempotency_key_reused', 'idempotency_in_progress'] as const)
      : []),
    'internal',
  ];
}
