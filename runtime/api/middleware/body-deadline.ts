/** A body that does not arrive in time is given up, in words: the server itself has no deadline, because an upload's bytes may come over it. */
import type { NextFunction, Request, Response } from 'express';
import { errorEnvelope } from '../../core/errors.ts';

const BODY_MS_MAX = 30_000;

export function bodyDeadline(ms = BODY_MS_MAX) {
  return function giveTime(request: Request, response: Response, next: NextFunction): void {
    const timer = setTimeout(() => giveUp(request, response, ms), ms);
    const stop = () => clearTimeout(timer);
    request.once('end', stop).once('close', stop);
    next();
  };
}

function giveUp(request: Request, response: Response, ms: number): void {
  // An answer is out already, and the rest of a refused body is read away.
  if (response.headersSent) return void request.destroy();
  const code = 'invalid_request';
  const message = `The body did not arrive within ${ms / 1000} seconds. Send it again, without a pause.`;
  response.locals['code'] = code;
  response.status(408).set('connection', 'close').json(errorEnvelope({ code, message }));
}
