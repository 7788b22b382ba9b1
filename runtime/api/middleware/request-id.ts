/** Every response carries x-request-id: the caller's own where it is well-formed, a new one otherwise. Spec: Envelope. */
import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { REQUEST_ID_PATTERN } from '../../core/limits.ts';

export function requestId(request: Request, response: Response, next: NextFunction): void {
  const sent = request.get('x-request-id') ?? '';
  response.set('x-request-id', REQUEST_ID_PATTERN.test(sent) ? sent : randomUUID());
  next();
}

export function requestIdOf(response: Response): string {
  return response.get('x-request-id') ?? '';
}
