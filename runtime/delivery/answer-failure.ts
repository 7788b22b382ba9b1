/**
 * Turns a failed delivery into a response: 503 `busy` when storage or database is down, otherwise 500 `internal`, whose
 * cause appears only in the log. Spec: Errors; Delivery refusals in checking order.
 */
import { BUSY_RETRY_AFTER_SECONDS } from '../core/limits.ts';
import { isOutage } from '../core/outage.ts';
import type { FailureLog } from '../platform/failure-log.ts';
import { answerRefusal } from './answer.ts';
import type { DeliveryResult, Exchange } from './exchange.ts';

export function answerFailure(
  failures: FailureLog,
  exchange: Exchange,
  error: unknown,
): DeliveryResult {
  const { request, response } = exchange;
  const { method, headers, url: path } = request;
  const request_id = response.getHeader('x-request-id');
  failures.failed('delivery failed', { method, host: headers.host, path, request_id, error });
  if (response.headersSent) {
    response.destroy();
    return { source: 'none', bytes: 0 };
  }
  return isOutage(error)
    ? answerRefusal(exchange, 'busy', BUSY_RETRY_AFTER_SECONDS)
    : answerRefusal(exchange, 'internal');
}
