/**
 * X-Request-Signature on the writes of browser sessions, over the body's bytes as received.
 * Spec: Authentication, Credentials (RequestSignature).
 */
import { ServiceError } from '../../core/errors.ts';
import { verifyRequest } from '../../core/signing/request-signature.ts';
import { findHeader, type SignedCall } from './presented-credential.ts';

const SIGNED_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Without a configured secret, every write from a browser is refused. */
export function checkRequestSignature(secret: string | undefined, call: SignedCall): void {
  if (!SIGNED_METHODS.has(call.method)) return;
  const signature = findHeader(call.headers, 'x-request-signature');
  const isSigned = secret !== undefined && verifyRequest(secret, call, signature);
  if (!isSigned) throw new ServiceError('invalid_request_signature');
}
