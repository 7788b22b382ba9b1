/** Lets pages of the configured dashboards call the API; browsers withhold the answers from any other origin. */
import cors from 'cors';
import type { RequestHandler } from 'express';

export function dashboardCors(origins: readonly string[]): RequestHandler {
  const allow = cors({
    origin: [...origins],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'authorization',
      'content-type',
      'idempotency-key',
      'if-match',
      'x-identity-user-id',
      'x-identity-user-email',
      'x-identity-user-first-name',
      'x-identity-user-last-name',
      'x-identity-user-name',
      'x-request-id',
      'x-request-signature',
    ],
    exposedHeaders: ['etag', 'link', 'retry-after', 'x-request-id'],
    maxAge: PREFLIGHT_SECONDS,
  });
  return (request, response, next) => {
    if (request.path.startsWith(OF_THE_PICKER)) next();
    else allow(request, response, next);
  };
}

/** Paths below /v1 that only the picker's page calls, which has the API's own origin. */
const OF_THE_PICKER = '/library/';

/** Chromium caches a preflight for at most two hours. */
export const PREFLIGHT_SECONDS = 7200;
