/**
 * The one place where an error becomes an answer: the envelope for what was refused on purpose, and for
 * everything else 500 `internal`, whose cause is logged and never returned. Spec: Envelope.
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
    // Too late to say anything else: the connection ends, so that nobody takes half for whole. Express would print, too.
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

/** What express throws, in our words; anything unknown is our fault. */
function asServiceError(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  // A path whose escapes cannot be read is no path of ours.
  if (cause instanceof URIError) return new ServiceError('not_found', { cause });
  if (!isRefusedByExpress(cause)) return new ServiceError('internal', { cause });
  return new ServiceError('invalid_request', {
    message: 'The request could not be read. Check its path, its query and its headers.',
    cause,
  });
}

/** As by who sends files, for a range that they do not have. */
function isRefusedByExpress(thrown: unknown): boolean {
  const status = thrown instanceof Error && 'status' in thrown ? thrown.status : undefined;
  return typeof status === 'number' && status < 500;
}
