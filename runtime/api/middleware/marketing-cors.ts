/** Lets pages of the marketing site, and of its developers' localhost, post access requests. Spec: Public (CORS). */
import cors from 'cors';
import type { RequestHandler } from 'express';
import { PREFLIGHT_SECONDS } from './dashboard-cors.ts';

export function marketingCors(origins: readonly string[]): RequestHandler {
  return cors({
    origin: [...origins, LOCALHOST],
    methods: ['POST'],
    allowedHeaders: ['content-type', 'x-request-id'],
    exposedHeaders: ['link', 'retry-after', 'x-request-id'],
    maxAge: PREFLIGHT_SECONDS,
  });
}

const LOCALHOST = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/;
