/**
 * Which credential a request presents, judged by the header and its format before anything is verified. If X-Api-Key is
 * present, it alone decides.
 * Spec: Authentication, Credentials.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { API_KEY_PREFIX } from '../../core/limits.ts';
import { isLibrarySession } from '../../core/signing/library-session.ts';

/** What authentication needs: the request's id, the pathname as sent, the body's raw bytes. */
export type SignedCall = {
  readonly request_id: string;
  readonly method: string;
  readonly pathname: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
};

export type Presented =
  | { readonly kind: 'key'; readonly secret: string }
  | { readonly kind: 'library-session'; readonly token: string }
  | { readonly kind: 'access-token'; readonly token: string }
  | { readonly kind: 'nothing' };

export function presentedCredential(headers: IncomingHttpHeaders): Presented {
  const keyHeader = findHeader(headers, 'x-api-key');
  if (keyHeader !== undefined) return { kind: 'key', secret: keyHeader };
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) return { kind: 'nothing' };
  if (token.startsWith(API_KEY_PREFIX)) return { kind: 'key', secret: token };
  if (isLibrarySession(token)) return { kind: 'library-session', token };
  return { kind: 'access-token', token };
}

/**
 * The request's headers with all Authorization headers joined into one text. Node keeps only the
 * first of several, while another reader might use the last and see a different caller.
 */
export function credentialHeaders({
  headers,
  headersDistinct: { authorization },
}: Pick<IncomingMessage, 'headers' | 'headersDistinct'>): IncomingHttpHeaders {
  return authorization === undefined
    ? headers
    : { ...headers, authorization: authorization.join(', ') };
}

/** The header's value. Repeated headers are joined, so they match no credential. */
export function findHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** A header's value as text: Node decodes bytes as Latin-1, but browsers and proxies send UTF-8. */
export function findTextHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = findHeader(headers, name);
  if (value === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
