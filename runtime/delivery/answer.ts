/**
 * Writes a delivery's answer. A success is metered before its response ends; a refusal never is, and is
 * never cached. Spec: Caching and response headers; Metering.
 */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  imageHeaders,
  notModifiedHeaders,
  preflightHeaders,
  refusalHeaders,
  type ServedImage,
} from '../core/delivery/headers.ts';
import { type DeliveryErrorCode, deliveryErrors, errorEnvelope } from '../core/errors.ts';
import type { Answered, Exchange, MeterDelivery } from './exchange.ts';

const NOTHING: Answered = { source: 'none', bytes: 0 };

/** An image that is in memory. A viewer who left before it was there got nothing and pays nothing. */
export function answerBytes(
  { request, response }: Exchange,
  image: ServedImage,
  of: { bytes: Uint8Array; source: Answered['source']; meter: MeterDelivery },
): Answered {
  if (response.destroyed) return NOTHING;
  const body = request.method === 'HEAD' ? undefined : of.bytes;
  response.writeHead(200, { ...imageHeaders(image), 'content-length': of.bytes.length });
  of.meter(body?.length ?? 0);
  response.end(body);
  return { source: of.source, bytes: body?.length ?? 0 };
}

/** An image as it is stored; `stream` is null for HEAD. Throws where the storage breaks off. */
export async function answerStream(
  { response }: Exchange,
  image: ServedImage,
  of: { stream: Readable | null; size_bytes: number; meter: MeterDelivery },
): Promise<Answered> {
  if (response.destroyed) {
    of.stream?.destroy();
    return NOTHING;
  }
  response.writeHead(200, { ...imageHeaders(image), 'content-length': of.size_bytes });
  const { stream, ...rest } = of;
  if (stream === null) of.meter(0);
  const bytes = stream === null ? 0 : await handOver(stream, response, rest);
  response.end();
  return { source: 'original', bytes };
}

/** Metered before the last piece is handed over; a viewer who leaves midway, for what was handed over. */
async function handOver(
  stream: Readable,
  response: Exchange['response'],
  { size_bytes, meter }: { size_bytes: number; meter: MeterDelivery },
): Promise<number> {
  let handed = 0;
  // Called before the pipeline's own listener writes the piece.
  stream.on('data', (piece: Buffer) => {
    handed += piece.length;
    if (handed === size_bytes) meter(handed);
  });
  try {
    await pipeline(stream, response, { end: false });
  } catch (error) {
    if (!response.destroyed) throw error;
    if (handed < size_bytes) meter(handed);
    return handed;
  }
  if (handed === size_bytes) return handed;
  throw new Error(`${handed} bytes are stored, ${size_bytes} published`);
}

export function answerNotModified(
  { response }: Exchange,
  image: ServedImage,
  meter: MeterDelivery,
): Answered {
  response.writeHead(304, { ...notModifiedHeaders(image) });
  meter(0);
  response.end();
  return { source: 'not_modified', bytes: 0 };
}

export function answerPreflight({ response }: Exchange): Answered {
  response.writeHead(204, { ...preflightHeaders() }).end();
  return NOTHING;
}

export function answerRefusal(
  { request, response }: Exchange,
  code: DeliveryErrorCode,
  retryAfterSeconds?: number,
): Answered {
  const { status, message } = deliveryErrors[code];
  const body = JSON.stringify(errorEnvelope({ code, message }));
  const retry = retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds };
  response.writeHead(status, {
    ...refusalHeaders(retry),
    'content-length': Buffer.byteLength(body),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  return NOTHING;
}
