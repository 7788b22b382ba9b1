/**
 * Converts the absolute form of a request target (`GET http://host/path`), which servers must accept, to origin form.
 * RFC 9112, 3.2.2 lets its host replace the Host header. Where the two differ, the target is left as it is and refused
 * as a protocol fault: a cache in front that uses the other host would store one host's answer as another's.
 */
import type { IncomingMessage } from 'node:http';

const ABSOLUTE = /^https?:\/\/(?<authority>[^/?#]+)(?<rest>.*)$/i;

export function normalizeRequestTarget(request: IncomingMessage): void {
  const { url = '', headers } = request;
  if (url.startsWith('/')) return;
  const { authority, rest = '' } = ABSOLUTE.exec(url)?.groups ?? {};
  if (authority === undefined || authority.toLowerCase() !== headers.host?.toLowerCase()) return;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}
