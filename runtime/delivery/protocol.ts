/** What delivery reads of a request as HTTP: for which host it is, and whether another may follow. Spec: Delivery host. */
import type { IncomingMessage } from 'node:http';

/** The host in lower case, without its port. */
export function hostOf(request: IncomingMessage): string {
  return (request.headers.host ?? '').toLowerCase().replace(PORT, '');
}

/**
 * After its answer the connection ends, and what follows is no request: a body is never read here, and of what comes
 * right behind an offer to upgrade Node loses the beginning.
 */
export function isLastOnConnection({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'] ?? '0';
  const hasBody = length !== '0' || headers['transfer-encoding'] !== undefined;
  return hasBody || headers.upgrade !== undefined;
}

const PORT = /:\d+$/;
