/** Answers 408 if a body does not arrive in time. The server itself has no deadline, because uploads share its port. */
import type { NextFunction, Request, Response } from 'express';
import { printHelpLink } from '../../core/error-help/help-link.ts';
import { errorEnvelope } from '../../core/errors.ts';
import type { ApiDeps } from '../deps.ts';

const CODE = 'invalid_request';
const BODY_MS_MAX = 30_000;

export function bodyDeadline({
  addresses,
  body_ms_max: ms = BODY_MS_MAX,
}: Pick<ApiDeps, 'addresses' | 'body_ms_max'>) {
  const link = printHelpLink(addresses.baseUrl, CODE);
  return function giveTime(request: Request, response: Response, next: NextFunction): void {
    const timer = setTimeout(() => giveUp({ request, response }, { ms, link }), ms);
    const stop = () => clearTimeout(timer);
    request.once('end', stop).once('close', stop);
    next();
  };
}

type Exchange = { request: Request; response: Response };

function giveUp({ request, response }: Exchange, { ms, link }: { ms: number; link: string }): void {
  // The answer was already sent, and only the rest of a refused body is being drained.
  if (response.headersSent) return void request.destroy();
  const message = `The body did not arrive within ${ms / 1000} seconds. Send it again, without a pause.`;
  response.locals['code'] = CODE;
  response.append('link', link).set('connection', 'close').status(408);
  response.json(errorEnvelope({ code: CODE, message }));
}
