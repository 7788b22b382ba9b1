/**
 * Whether a request's headers hold a credential of a kind and form that an endpoint accepts. Without one, nothing in
 * the body can authenticate the caller, so the body need not be read. Spec: Authentication, Credentials; Rules 2.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isApiKey } from '../../core/signing/api-key.ts';
import { inboundCredential, signatureHeader } from './inbound-signature.ts';
import { presentedCredential } from './presented-credential.ts';
import { type Credential, isOpen, tokenCredential } from './principal.ts';

export function presentsCredential(
  allowed: readonly Credential[],
  headers: IncomingHttpHeaders,
): boolean {
  if (isOpen(allowed)) return true;
  const inbound = inboundCredential(allowed);
  if (inbound !== undefined) return headers[signatureHeader(inbound)] !== undefined;
  const presented = presentedCredential(headers);
  if (tokenCredential(allowed) !== undefined) return presented.kind === 'library-session';
  if (presented.kind === 'key') return isApiKey(presented.secret);
  return presented.kind === 'access-token';
}
