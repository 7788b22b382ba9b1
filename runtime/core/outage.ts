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
