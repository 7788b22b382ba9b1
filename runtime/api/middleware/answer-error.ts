/**
 * The one place where an error becomes an answer: the envelope for what was refused on purpose, and for
 * everything else 500 `internal`, whose cause is logged and never returned. Spec: Envelope.
 */
import type { NextFunction, Request, Response } from 'express';
import { printHelpLink } from '../../core/error-help/help-link.ts';
import { errorEnvelope, ServiceError } from '../../core/errors.ts';
import type { ApiDeps } from '../deps.ts';
import { requestIdOf } from './request-id.ts';

export function answerError({ log, addresses }: Pick<ApiDeps, 'log' | 'addresses'>) {
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
      log.error('request failed', {
        method,
        path,
        code: error.code,
        request_id: requestIdOf(response),
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

/** What express's own body reader throws, in our words; anything unknown is our fault. */
function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  // A path whose escapes cannot be read is no path of ours.
  if (thrown instanceof URIError) return new ServiceError('not_found', { cause: thrown });
  if (!isHttpError(thrown)) return new ServiceError('internal', { cause: thrown });
  switch (thrown.type) {
    case 'entity.too.large':
      return new ServiceError('payload_too_large', {
        details: { max_bytes: thrown.limit },
        cause: thrown,
      });
    case 'encoding.unsupported':
      return new ServiceError('invalid_request', {
        message: 'Send the body without Content-Encoding.',
        cause: thrown,
      });
    default:
      return thrown.status < 500
        ? new ServiceError('invalid_request', {
            message: 'The request could not be read.',
            cause: thrown,
          })
        : new ServiceError('internal', { cause: thrown });
  }
}

type HttpError = Error & { status: number; type?: string; limit?: number };

function isHttpError(thrown: unknown): thrown is HttpError {
  return thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number';
}
