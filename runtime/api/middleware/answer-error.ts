/**
 * The one place where an error becomes an answer: deliberate refusals get the envelope; everything else is 500
 * `internal`, whose cause is logged and never returned. Spec: Envelope.
 */
import type { NextFunction, Request, Response } from 'express';
import { printHelpLink } from '../../core/error-help/help-link.ts';
import { errorEnvelope, ServiceError } from '../../core/errors.ts';
import { createFailureLog } from '../../platform/failure-log.ts';
import type { ApiDeps } from '../deps.ts';
import { requestIdOf } from './request-id.ts';

export function answerError({ log, addresses }: Pick<ApiDeps, 'log' | 'addresses'>) {
  const failures = createFailureLog(log);
  // oxlint-disable-next-line max-params -- express knows its error handlers by their four parameters.
  return function answer(
    thrown: unknown,
    request: Request,
    response: Response,
    _next: NextFunction,
  ): void {
    const error = asServiceError(thrown);
    response.locals['code'] = error.code;
    if (error.status >= 500) {
      const { method, path } = request;
      const request_id = requestIdOf(response);
      failures.failed('request failed', {
        method,
        path,
        code: error.code,
        request_id,
        error: thrown,
      });
    }
    // Too late for an error answer: the connection is cut, so that no client takes a partial answer
    // for a complete one. Express would also print the error.
    if (response.headersSent) {
      if (!response.writableEnded) request.socket.destroy();
      return;
    }
    response.append('link', printHelpLink(addresses.baseUrl, error.code));
    if (error.retryAfterSeconds !== undefined)
      response.set('retry-after', String(error.retryAfterSeconds));
    response.status(error.status).json(errorEnvelope(error));
  };
}

/** Maps errors that express throws to refusals; anything unknown is an internal error. */
function asServiceError(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  // A path with invalid percent-encoding matches no route.
  if (cause instanceof URIError) return new ServiceError('not_found', { cause });
  if (!isRefusedByExpress(cause)) return new ServiceError('internal', { cause });
  return new ServiceError('invalid_request', {
    message: 'The request could not be read. Check its path, its query and its headers.',
    cause,
  });
}

/** Such as the error that express's file sender throws for an unsatisfiable range. */
function isRefusedByExpress(thrown: unknown): boolean {
  const status = thrown instanceof Error && 'status' in thrown ? thrown.status : undefined;
  return typeof status === 'number' && status < 500;
}
