/** A refusal of the upload helper: its code, status and envelope. Spec: Upload helper codes. */
import {
  errorEnvelope,
  type HelperErrorCode,
  helperErrors,
  processingErrors,
  SESSION_FAILURE_STATUS,
} from '../../core/errors.ts';
import type { ApiError } from './api-error.ts';

type RefusalOptions = {
  status?: number;
  /** Any code that your page understands. */
  code?: string;
  message?: string;
  details?: unknown;
  cause?: unknown;
  retryAfterSeconds?: number | undefined;
};

/** Thrown by a route's middleware to refuse an upload: 403 `forbidden` by default. */
export class UploadRefusal extends Error {
  override readonly name = 'UploadRefusal';
  readonly status: number;
  readonly code: string;
  readonly details: unknown;
  readonly retryAfterSeconds: number | undefined;

  constructor(refusal: RefusalOptions = {}) {
    super(refusal.message ?? helperErrors.forbidden.message, { cause: refusal.cause });
    this.status = refusal.status ?? FORBIDDEN_STATUS;
    this.code = refusal.code ?? 'forbidden';
    this.details = refusal.details;
    this.retryAfterSeconds = refusal.retryAfterSeconds;
  }

  /** The response that the browser gets. */
  toResponse(): Response {
    const { code, message, details, retryAfterSeconds } = this;
    const headers = new Headers({ 'cache-control': 'no-store' });
    if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds));
    const envelope = errorEnvelope({ code, message, details });
    return Response.json(envelope, { status: this.status, headers });
  }
}

const FORBIDDEN_STATUS = 403;
const UNREACHABLE_STATUS = 502;

type OwnCode = Exclude<HelperErrorCode, 'forbidden' | 'processing_failed' | 'api_unreachable'>;

/** A refusal from the table, with its status. */
export function helperRefusal(
  code: OwnCode,
  options: Pick<RefusalOptions, 'message' | 'details' | 'cause'> = {},
): UploadRefusal {
  const { statuses, message } = helperErrors[code];
  return new UploadRefusal({ code, status: statuses[0], message, ...options });
}

/** The refusal for a failed or expired session: its own code with status 422. */
export function sessionFailure(errorCode: string): UploadRefusal {
  const known: Readonly<Record<string, { message: string }>> = processingErrors;
  const message =
    known[errorCode]?.message ?? `The image was sent and cannot be used: ${errorCode}.`;
  return new UploadRefusal({ code: errorCode, status: SESSION_FAILURE_STATUS, message });
}

/** Relays the service's refusals with code and status; missing and 5xx answers become 502. */
export function relayedRefusal(error: ApiError): UploadRefusal {
  const { code, message, details, retry_after_seconds: retryAfterSeconds } = error;
  const isAnswer = error.status !== null && error.status < 500;
  const status = isAnswer ? error.status : UNREACHABLE_STATUS;
  return new UploadRefusal({ status, code, message, details, retryAfterSeconds, cause: error });
}
