/** Errors that mean an outage of the storage or the database: nothing is wrong with the request. Spec: Errors, 503. */
import { ServiceError } from './errors.ts';

/** The service was not reached at all: a further request would fail too. */
export function isUnavailable(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'storage_unavailable';
}

export function isOutage(error: unknown): error is ServiceError {
  return (
    error instanceof ServiceError && ['storage_unavailable', 'query_timeout'].includes(error.code)
  );
}

/**
 * A service is away, overloaded or too slow, or a provider's answer is not as agreed: neither the
 * request nor this program is at fault.
 */
export function isServiceUnavailable(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 503;
}

/**
 * Whether an error code means that a connection failed: of a socket (ECONNRESET), of TLS or a
 * certificate (ERR_SSL_…, CERT_HAS_EXPIRED), of an answer that is not HTTP (HPE_…). Node's other
 * ERR_… codes are faults of a program.
 */
export function isConnectionCode(code: string): boolean {
  return /^(?!ERR_(?!TLS_|SSL_))[A-Z][A-Z0-9_]+$/.test(code);
}
