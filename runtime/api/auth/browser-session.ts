/**
 * Dashboard sessions: the identity provider's access token, and x-identity-user-id equal to its
 * sub. The display headers are stored at the first login and never authorize.
 * Spec: Authentication, Credentials (BrowserSession, IdentityUserId).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { DisplayFacts } from '../../actions/first-login.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Identity } from '../../platform/identity.ts';
import { findTextHeader } from './presented-credential.ts';

/** A person whose token and user id agree; whether they have an account is not yet known. */
export type BrowserSession = { readonly subject: string; readonly display: DisplayFacts };

export async function authenticateSession(
  identity: Identity,
  token: string,
  headers: IncomingHttpHeaders,
): Promise<BrowserSession> {
  const { sub } = await identity.verify(token);
  if (findTextHeader(headers, 'x-identity-user-id') !== sub)
    throw new ServiceError('unauthorized', { message: OTHER_USER });
  return { subject: sub, display: displayFactsOf(headers) };
}

const OTHER_USER =
  'The header X-Identity-User-Id is missing, or is not the sub of the access token. Send it with the id of the person who is signed in.';

function displayFactsOf(headers: IncomingHttpHeaders): DisplayFacts {
  return {
    email: findTextHeader(headers, 'x-identity-user-email'),
    first_name: findTextHeader(headers, 'x-identity-user-first-name'),
    last_name: findTextHeader(headers, 'x-identity-user-last-name'),
    name: findTextHeader(headers, 'x-identity-user-name'),
  };
}
