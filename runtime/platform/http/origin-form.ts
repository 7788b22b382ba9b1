/**
 * The absolute form of a request target (`GET http://host/path`), which servers have to take, made the usual one. RFC
 * 9112, 3.2.2 lets its host replace that of the Host header; where the two differ it stays as it is, and is refused as a
 * protocol fault: a cache in front that goes by the other one would keep one host's answer as another's.
 */
import type { IncomingMessage } from 'node:http';

const ABSOLUTE = /^https?:\/\/(?<authority>[^/?#]+)(?<rest>.*)$/i;

export function takeOriginForm(request: IncomingMessage): void {
  const { url = '', headers } = request;
  if (url.startsWith('/')) return;
  const { authority, rest = '' } = ABSOLUTE.exec(url)?.groups ?? {};
  if (authority === undefined || authority.toLowerCase() !== headers.host?.toLowerCase()) return;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}
