/**
 * What is wrong with a request as HTTP, before anything is routed: such a connection gets a 400 and is
 * closed, because the two ends may not agree where a message ends. Spec: Delivery host.
 */
import type { IncomingMessage } from 'node:http';

/** What is wrong, or undefined. */
export function protocolFault(request: IncomingMessage): string | undefined {
  if (!(request.url ?? '').startsWith('/') && request.url !== '*') return 'absolute request target';
  if (countHeaders(request, 'host') !== 1) return 'not exactly one Host';
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return 'unknown Transfer-Encoding';
  if (!HOST.test(request.headers.host ?? '')) return 'malformed Host';
  return undefined;
}

/** The host in lower case, without its port. */
export function hostOf(request: IncomingMessage): string {
  return (request.headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
}

const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,252})(:\d{1,5})?$/;

function countHeaders({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((value, at) => at % 2 === 0 && value.toLowerCase() === name).length;
}
