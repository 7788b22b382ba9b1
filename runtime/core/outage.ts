/** The storage or the database does not answer: nothing is wrong with what was asked for. Spec: Errors, 503. */
import { ServiceError } from './errors.ts';

/** Nobody was reached at all: whatever is asked next will not be answered either. */
export function isAway(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'storage_unavailable';
}

export function isOutage(error: unknown): error is ServiceError {
  return (
    error instanceof ServiceError && ['storage_unavailable', 'query_timeout'].includes(error.code)
  );
}

/**
 * Something is away, full or too slow, or not as it was agreed on with a provider: neither what was asked for nor this
 * program is wrong.
 */
export function isExpected(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 503;
}

/**
 * Whether the code of an error says that a connection could not be made or broke: of a socket (ECONNRESET), of TLS or a
 * certificate (ERR_SSL_…, CERT_HAS_EXPIRED), of an answer that is no HTTP (HPE_…). Node's other ERR_… are a program's.
 */
export function isConnectionCode(code: string): boolean {
  return /^(?!ERR_(?!TLS_|SSL_))[A-Z][A-Z0-9_]+$/.test(code);
}
