/**
 * Handles one delivery: gathers the facts, checks the refusals in order, then serves the image. Only GET, HEAD and
 * OPTIONS are served. Spec: Delivery host.
 */
import { firstRefusal } from '../core/delivery/refusals.ts';
import type { FailureLog } from '../platform/failure-log.ts';
import { answerPreflight, answerRefusal, markClientClosed } from './answer.ts';
import { answerFailure } from './answer-failure.ts';
import type { DeliveryResult, Exchange } from './exchange.ts';
import { gather } from './gather.ts';
import { hostOf } from './protocol.ts';
import { serveRaw } from './raw/serve-raw.ts';
import { type ServingDeps, serveDerived, serveOriginal } from './serve-image.ts';

export type HandlerDeps = ServingDeps & { failures: FailureLog };

/** Always answers; resolves when the answer has been handed to the connection. */
export async function handleDelivery(
  deps: HandlerDeps,
  exchange: Exchange,
): Promise<DeliveryResult> {
  const { request, response } = exchange;
  try {
    if (request.method === 'GET' || request.method === 'HEAD') return await deliver(deps, exchange);
    if (request.method === 'OPTIONS') return answerPreflight(exchange);
    response.setHeader('allow', 'GET, HEAD, OPTIONS');
    return answerRefusal(exchange, 'not_found');
  } catch (error) {
    return answerFailure(deps.failures, exchange, error);
  }
}

async function deliver(deps: HandlerDeps, exchange: Exchange): Promise<DeliveryResult> {
  const { request, response } = exchange;
  const gathered = await gather(deps, { host: hostOf(request), target: request.url ?? '' });
  if (response.destroyed) return markClientClosed(exchange);
  const refusal = firstRefusal(gathered.facts);
  if (refusal !== null) return answerRefusal(exchange, refusal.code);
  const { url, project, file, planned } = gathered;
  if (url === undefined || project === undefined || file === undefined) {
    throw new Error('a delivery was neither refused nor found');
  }
  const served = { ...exchange, url, project, file };
  if (url.target.kind === 'originals') return serveOriginal(deps, served);
  if (planned !== undefined) return serveDerived(deps, { ...served, planned });
  return serveRaw(deps, served);
}
