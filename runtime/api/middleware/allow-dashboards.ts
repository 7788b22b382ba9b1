/** Lets the configured dashboards call the API from their pages; to any other origin a browser shows nothing. */
import cors from 'cors';
import type { RequestHandler } from 'express';

export function allowDashboards(origins: readonly string[]): RequestHandler {
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

/** Below /v1: called by the picker's page alone, which has the API's own origin. */
const OF_THE_PICKER = '/library/';

/** Chromium keeps no answer for longer than two hours. */
export const PREFLIGHT_SECONDS = 7200;
