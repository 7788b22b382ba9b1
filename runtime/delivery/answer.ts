/**
 * Writes a delivery's answer. A success is metered before its response ends; a refusal never is and is never
 * cached. Spec: Caching and response headers; Metering.
 */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  imageHeaders,
  notModifiedHeaders,
  refusalHeaders,
  type ServedImage,
} from '../core/delivery/headers.ts';
import type { DeliveryRefusal } from '../core/delivery/refusals.ts';
import { apiErrors, deliveryErrors, errorEnvelope, ServiceError } from '../core/errors.ts';
import { BUSY_RETRY_AFTER_SECONDS } from '../core/limits.ts';
import type { DeliveryDeps } from './deps.ts';
import { RenderFailed } from './derived-images.ts';
import type { Exchange, MeterDelivery, Source } from './handler.ts';

export function answerBytes(
  { request, response }: Exchange,
  image: ServedImage,
  { bytes, meter }: { bytes: Uint8Array; meter: MeterDelivery },
): void {
  const isHead = request.method === 'HEAD';
  response.writeHead(200, { ...imageHeaders(image), 'content-length': bytes.length });
  meter(isHead ? 0 : bytes.length);
  response.end(isHead ? undefined : bytes);
}

/** `stream` is null for HEAD. A viewer who leaves midway is metered for what was handed to the connection. */
export async function answerStream(
  { response }: Exchange,
  image: ServedImage,
  of: { stream: Readable | null; size_bytes: number; meter: MeterDelivery },
): Promise<Source> {
  response.writeHead(200, { ...imageHeaders(image), 'content-length': of.size_bytes });
  if (of.stream === null) {
    of.meter(0);
    response.end();
    return 'original';
  }
  let handed = 0;
  of.stream.on('data', (chunk: Buffer) => {
    handed += chunk.length;
  });
  const left = await pipeline(of.stream, response, { end: false }).catch((error: unknown) => error);
  of.meter(handed);
  if (left === undefined) response.end();
  else response.destroy();
  return 'original';
}

export function answerNotModified(
  { response }: Exchange,
  image: ServedImage,
  meter: MeterDelivery,
): Source {
  response.writeHead(304, { ...notModifiedHeaders(image) });
  meter(0);
  response.end();
  return 'not_modified';
}

export function answerRefusal(
  { request, response }: Exchange,
  { status, code }: DeliveryRefusal,
  retryAfterSeconds?: number,
): Source {
  const { message } = deliveryErrors[code];
  const body = JSON.stringify(errorEnvelope({ code, message }));
  const retry = retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds };
  response.writeHead(status, {
    ...refusalHeaders(retry),
    'content-length': Buffer.byteLength(body),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  return 'none';
}

/** Storage or database down is 503 `busy`; everything else is 500 `internal`, whose cause only the log has. */
export function answerFailure(
  deps: Pick<DeliveryDeps, 'log'>,
  exchange: Exchange,
  error: unknown,
): Source {
  const { request, response } = exchange;
  const { method, url: path } = request;
  deps.log.error('delivery failed', {
    method,
    path,
    request_id: response.getHeader('x-request-id'),
    error,
  });
  if (response.headersSent) response.destroy();
  else if (isOutage(error))
    answerRefusal(exchange, { status: 503, code: 'busy' }, BUSY_RETRY_AFTER_SECONDS);
  else answerInternal(exchange);
  return 'none';
}

function isOutage(error: unknown): boolean {
  if (error instanceof RenderFailed) return false;
  return (
    error instanceof ServiceError && ['storage_unavailable', 'query_timeout'].includes(error.code)
  );
}

function answerInternal({ request, response }: Exchange): void {
  const { status, message } = apiErrors.internal;
  const body = JSON.stringify(errorEnvelope({ code: 'internal', message }));
  response.writeHead(status, { ...refusalHeaders(), 'content-length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}
