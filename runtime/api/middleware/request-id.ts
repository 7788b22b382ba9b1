/** Sets x-request-id on every response, also on those that the app answers itself. Spec: Errors, Envelope. */
import type { NextFunction, Request, Response } from 'express';
import { assignRequestId } from '../../platform/http/request-id.ts';

export function requestId(request: Request, response: Response, next: NextFunction): void {
  assignRequestId(request, response);
  next();
}

export function requestIdOf(response: Response): string {
  return response.get('x-request-id') ?? '';
}
