/** Why an upload ended: a code of the browser client, the upload handler or the service. Spec: Upload helper codes. */
import {
  type BrowserClientErrorCode,
  browserClientErrors,
} from '../../core/browser-client-errors.ts';

export class UploadError extends Error {
  override readonly name = 'UploadError';
  readonly code: string;
  /** The status of the answer; null if none arrived. */
  readonly status: number | null;
  readonly details: unknown;

  constructor(failure: {
    code: string;
    message: string;
    status?: number | null;
    details?: unknown;
    cause?: unknown;
  }) {
    super(failure.message, { cause: failure.cause });
    this.code = failure.code;
    this.status = failure.status ?? null;
    this.details = failure.details;
  }
}

export function clientError(
  code: BrowserClientErrorCode,
  options: { status?: number | null; cause?: unknown } = {},
): UploadError {
  return new UploadError({ code, message: browserClientErrors[code], ...options });
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof UploadError && error.code === code;
}

type Refusal = { code: unknown; message: string; details: unknown };

/** The refusal in an answer with the service's envelope; undefined for anything else. */
export function readRefusal(answer: unknown, status: number): UploadError | undefined {
  const { error } = (answer ?? {}) as { error?: Partial<Refusal> | null };
  const { code, message = '', details } = error ?? {};
  if (typeof code !== 'string') return undefined;
  return new UploadError({ code, message, status, details });
}
