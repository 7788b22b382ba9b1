/**
 * The failure of a call to the API server, as a value: callers decide by its reason, or throw it if they only want to
 * be called again.
 */

export type Answer<T> = { ok: true; value: T } | { ok: false; failure: KubeFailure };

/** Every reason that a caller can tell apart. */
export type FailureReason =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  /** The version that was read from, or the page's token, is older than what the server keeps. */
  | 'Gone'
  | 'Invalid'
  | 'TooManyRequests'
  | 'Refused'
  /** The server exists and cannot answer now. */
  | 'Unavailable'
  /** No answer in time; whether a write took place is unknown. */
  | 'Timeout'
  /** The connection failed or broke; whether a write took place is unknown. */
  | 'Unreachable'
  /** The answer is not one of an API server. */
  | 'Malformed'
  /** The caller gave up. */
  | 'Stopped';

type FailureFacts = {
  reason: FailureReason;
  message: string;
  status?: number;
  retry_after_ms?: number;
  cause?: unknown;
};

export class KubeFailure extends Error {
  readonly reason: FailureReason;
  readonly status: number | undefined;
  /** How long the server asked us to wait. */
  readonly retry_after_ms: number | undefined;

  constructor({ reason, message, status, retry_after_ms, cause }: FailureFacts) {
    super(message, { cause });
    this.name = 'KubeFailure';
    this.reason = reason;
    this.status = status;
    this.retry_after_ms = retry_after_ms;
  }
}

/** For callers that only want the value, and are called again if there is none. */
export function unwrap<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw answer.failure;
}

/** Whether the object to write is gone, or somebody has written it since it was read. */
export function isNotFoundOrConflict(error: unknown): boolean {
  return error instanceof KubeFailure && ['NotFound', 'Conflict'].includes(error.reason);
}

/** Nobody answered: the request may not have reached a server at all. */
export function isUnanswered({ reason }: KubeFailure): boolean {
  return reason === 'Timeout' || reason === 'Unreachable';
}

/**
 * The body of every refusal by an API server, and of a watch's ERROR event; a proxy before it may
 * send anything.
 */
type Status = {
  code?: number;
  reason?: string;
  message?: unknown;
  details?: { retryAfterSeconds?: unknown } | null;
};

/** From an HTTP status and its body; the Retry-After header takes precedence over the body. */
export function parseFailure(answer: {
  status: number;
  body: unknown;
  retry_after?: string | undefined;
}): KubeFailure {
  const said: Status = typeof answer.body === 'object' && answer.body !== null ? answer.body : {};
  const { retryAfterSeconds } = said.details ?? {};
  const wait = parseSeconds(answer.retry_after) ?? parseSeconds(String(retryAfterSeconds));
  return new KubeFailure({
    reason: reasonOf(answer.status, said.reason),
    message:
      typeof said.message === 'string' ? said.message : `the API server answered ${answer.status}`,
    status: answer.status,
    ...(wait === undefined ? {} : { retry_after_ms: wait * 1000 }),
  });
}

function parseSeconds(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,5}$/.test(header) ? Number(header) : undefined;
}

const REASONS: Readonly<Record<number, FailureReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Gone',
  422: 'Invalid',
  429: 'TooManyRequests',
  504: 'Timeout',
};

function reasonOf(status: number, said: string | undefined): FailureReason {
  if (status === 409 && said === 'AlreadyExists') return 'AlreadyExists';
  return REASONS[status] ?? (status >= 500 ? 'Unavailable' : 'Refused');
}
