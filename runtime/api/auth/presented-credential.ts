/**
 * Which credential a request brings, judged by where it stands and what it looks like, before
 * anything is verified. X-Api-Key is looked at first and then decides alone.
 * Spec: Authentication, Credentials.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { API_KEY_PREFIX } from '../../core/limits.ts';
import { isLibrarySession } from '../../core/signing/library-session.ts';

/** What authentication sees of a request: its id, the pathname as sent, the body's bytes as received. */
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
 * All that a request says of its caller: of several Authorization headers Node keeps the first, and who looks at the last
 * would see somebody else. Here they stand in one text, too.
 */
export function credentialHeaders({
  headers,
  headersDistinct: { authorization },
}: Pick<IncomingMessage, 'headers' | 'headersDistinct'>): IncomingHttpHeaders {
  return authorization === undefined
    ? headers
    : { ...headers, authorization: authorization.join(', ') };
}

/** The header's text; repeated headers stand in one text and so match nothing. */
export function findHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** A header's text as people wrote it: Node reads bytes as Latin-1, browsers and proxies send UTF-8. */
export function findTextHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = findHeader(headers, name);
  if (value === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
