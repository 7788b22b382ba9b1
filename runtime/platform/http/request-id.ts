/**
 * Every response carries x-request-id: the caller's own if it is well-formed, otherwise a new one. Spec: Errors,
 * Envelope.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { REQUEST_ID_PATTERN } from '../../core/limits.ts';

/** Sets the header once, on first call for a request, and returns the id. */
export function assignRequestId(request: IncomingMessage, response: ServerResponse): string {
  const assigned = response.getHeader('x-request-id');
  if (typeof assigned === 'string') return assigned;
  const sent = request.headers['x-request-id'];
  const id = typeof sent === 'string' && REQUEST_ID_PATTERN.test(sent) ? sent : randomUUID();
  response.setHeader('x-request-id', id);
  return id;
}
