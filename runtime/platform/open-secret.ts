/** Opens a sealed value for a request. Spec: Errors, Codes by status. */
import { ServiceError } from '../core/errors.ts';
import { type Sealing, SealingError } from './sealing.ts';

/**
 * Throws storage_unavailable if the value's key is not configured, or is another one under the same
 * id: only the operator of the service can mend that, and the request may be repeated.
 */
export function openSecret(sealing: Sealing, sealed: Uint8Array, context: string): Buffer {
  try {
    return sealing.open(sealed, context);
  } catch (cause) {
    if (!(cause instanceof SealingError) || cause.keyId === undefined) throw cause;
    throw new ServiceError('storage_unavailable', { message: UNREADABLE, cause });
  }
}

const UNREADABLE =
  'A stored secret cannot be read at the moment. Try again shortly; if the error persists, report the x-request-id.';
