/**
 * What delivery reads from the HTTP head of a request: the host, and whether another request may follow. Spec: Delivery
 * host.
 */
import type { IncomingMessage } from 'node:http';

/** The host in lower case, without its port. */
export function hostOf(request: IncomingMessage): string {
  return (request.headers.host ?? '').toLowerCase().replace(PORT, '');
}

/**
 * Whether the connection ends after the answer, because what follows cannot be read as a request:
 * delivery never reads a body, and Node loses the beginning of what comes right behind an upgrade
 * offer.
 */
export function isLastOnConnection({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'] ?? '0';
  const hasBody = length !== '0' || headers['transfer-encoding'] !== undefined;
  return hasBody || headers.upgrade !== undefined;
}

const PORT = /:\d+$/;
