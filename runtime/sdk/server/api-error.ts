/** A refusal of the service, or a failure to reach it. Spec: Errors, Envelope. */

/** `api_unreachable` means that no answer arrived; its `status` is null. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number | null;
  readonly code: string;
  readonly details: unknown;
  /** The service's id of the request, to quote to its operators. */
  readonly request_id: string | null;
  readonly retry_after_seconds: number | undefined;

  constructor(refusal: {
    status: number | null;
    code: string;
    message: string;
    details?: unknown;
    request_id?: string | null;
    retry_after_seconds?: number | undefined;
    cause?: unknown;
  }) {
    super(refusal.message, { cause: refusal.cause });
    this.status = refusal.status;
    this.code = refusal.code;
    this.details = refusal.details;
    this.request_id = refusal.request_id ?? null;
    this.retry_after_seconds = refusal.retry_after_seconds;
  }
}

/**
 * Reads the envelope of a refusal; a body without one, such as a proxy's page, becomes an error by
 * its status.
 */
export async function readApiError(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  const { code, message, details } = parseEnvelope(text) ?? {
    code: status >= 500 ? 'api_unreachable' : 'invalid_response',
    message: `The image service answered ${status} without a code.`,
    details: undefined,
  };
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  return new ApiError({
    status,
    code,
    message,
    details,
    request_id: headers.get('x-request-id'),
    retry_after_seconds: Number.isFinite(after) ? after : undefined,
  });
}

type Envelope = { code: string; message: string; details: unknown };

function parseEnvelope(text: string): Envelope | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<Envelope> };
    if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined;
    return { code: error.code, message: error.message, details: error.details };
  } catch {
    return undefined;
  }
}
