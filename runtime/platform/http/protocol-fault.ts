/**
 * HTTP faults of a request, checked before routing: the connection gets a 400 and is closed, because the two ends may
 * disagree on where a message ends, or for whom it is. Spec: Delivery host.
 */
import type { IncomingMessage } from 'node:http';
import { normalizeRequestTarget } from './normalize-request-target.ts';

/** The fault, or undefined. Also converts the target to origin form, except an asterisk. */
export function protocolFault(request: IncomingMessage): string | undefined {
  normalizeRequestTarget(request);
  const { url = '', headers, httpVersionMajor } = request;
  if (httpVersionMajor !== 1) return 'another version';
  if (!url.startsWith('/') && url !== '*') return 'a request target for another host';
  if (countHosts(request) !== 1) return UNCLEAR_HOST;
  if (!HOST.test(headers.host ?? '')) return 'malformed Host';
  const coding = headers['transfer-encoding']?.toLowerCase();
  if (coding !== undefined && coding !== 'chunked') return 'unknown Transfer-Encoding';
  return undefined;
}

export const UNCLEAR_HOST = 'not exactly one Host';

const HOST = /^(?:[a-z0-9][a-z0-9._-]{0,252}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

function countHosts({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((value, at) => at % 2 === 0 && value.toLowerCase() === 'host').length;
}
