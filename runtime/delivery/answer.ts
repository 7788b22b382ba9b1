/**
 * Writes the response of a delivery. A success is metered before its response ends; a refusal is never metered and
 * never cached. Spec: Caching and response headers; Metering.
 */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import {
  type ByteRange,
  printContentRange,
  readWantedBytes,
  type WantedBytes,
} from '../core/delivery/byte-range.ts';
import {
  imageHeaders,
  notModifiedHeaders,
  preflightHeaders,
  refusalHeaders,
  type ServedImage,
} from '../core/delivery/headers.ts';
import { printHelpLink } from '../core/error-help/help-link.ts';
import { type DeliveryErrorCode, deliveryErrors, errorEnvelope } from '../core/errors.ts';
import type { DeliveryResult, Exchange, MeterDelivery } from './exchange.ts';

const NOTHING: DeliveryResult = { source: 'none', bytes: 0 };

/** The part of the image to send. HEAD ignores the range and is answered as for the whole image. */
export type BodyRange = 'whole' | ByteRange;

export function resolveBodyRange(
  { request }: Exchange,
  of: { size_bytes: number; etag: string | null },
): WantedBytes {
  if (request.method === 'HEAD') return 'whole';
  const { range, 'if-range': ifRange } = request.headers;
  return readWantedBytes({ range, ifRange: typeof ifRange === 'string' ? ifRange : undefined }, of);
}

/**
 * Sends an image from memory. A viewer who left before it was ready got nothing and is not metered.
 */
export function answerBytes(
  exchange: Exchange,
  image: ServedImage,
  of: { bytes: Uint8Array; source: DeliveryResult['source']; meter: MeterDelivery },
): DeliveryResult {
  const { request, response } = exchange;
  if (response.destroyed) return markClientClosed(exchange);
  const size_bytes = of.bytes.length;
  const etag = image.kind === 'raw' ? null : image.etag;
  const portion = resolveBodyRange(exchange, { size_bytes, etag });
  if (portion === 'beyond') return answerRangeNotSatisfiable(exchange, size_bytes);
  writeHead(response, image, { portion, size_bytes });
  const body = request.method === 'HEAD' ? undefined : cut(of.bytes, portion);
  of.meter(body?.length ?? 0);
  response.end(body);
  return { source: of.source, bytes: body?.length ?? 0 };
}

function cut(bytes: Uint8Array, portion: BodyRange): Uint8Array {
  return portion === 'whole' ? bytes : bytes.subarray(portion.start, portion.end + 1);
}

/**
 * Sends a stored original. `stream` is null for HEAD; `image` is called when the first bytes have
 * arrived. Throws when the storage breaks off.
 */
export async function answerStream(
  exchange: Exchange,
  image: () => ServedImage,
  of: { stream: Readable | null; size_bytes: number; portion: BodyRange; meter: MeterDelivery },
): Promise<DeliveryResult> {
  const { response } = exchange;
  const { stream, meter } = of;
  if (response.destroyed) {
    stream?.destroy();
    return markClientClosed(exchange);
  }
  const begin = () => writeHead(response, image(), of);
  if (stream === null) {
    begin();
    meter(0);
  }
  const size_bytes = lengthOf(of.portion, of.size_bytes);
  const handing = { size_bytes, meter, begin };
  const bytes = stream === null ? 0 : await handOver(stream, response, handing);
  if (response.destroyed && bytes === 0) return markClientClosed(exchange);
  response.end();
  return { source: 'original', bytes };
}

function writeHead(
  response: Exchange['response'],
  image: ServedImage,
  { portion, size_bytes }: { portion: BodyRange; size_bytes: number },
): void {
  const headers = { ...imageHeaders(image), 'content-length': lengthOf(portion, size_bytes) };
  if (portion === 'whole') {
    response.writeHead(200, headers);
  } else {
    response.writeHead(206, {
      ...headers,
      'content-range': printContentRange(portion, size_bytes),
    });
  }
}

function lengthOf(portion: BodyRange, sizeBytes: number): number {
  return portion === 'whole' ? sizeBytes : portion.end - portion.start + 1;
}

/** Refuses a range that begins beyond the image's last byte. */
export function answerRangeNotSatisfiable(exchange: Exchange, sizeBytes: number): DeliveryResult {
  exchange.response.setHeader('content-range', printContentRange('beyond', sizeBytes));
  return answerRefusal(exchange, 'range_not_satisfiable');
}

type Handing = { size_bytes: number; meter: MeterDelivery; begin: () => void };

/**
 * Meters before handing over the last piece; a viewer who leaves midway is metered for the bytes
 * handed over so far. The head is written only once the first piece is there, because a storage
 * that opened the object may still stall or fail.
 */
async function handOver(
  stream: Readable,
  response: Exchange['response'],
  { size_bytes, meter, begin }: Handing,
): Promise<number> {
  let handed = 0;
  try {
    await untilReadable(stream, response);
    begin();
    stream.on('data', (piece: Buffer) => {
      handed += piece.length;
      if (handed === size_bytes) meter(handed);
    });
    await pipeline(stream, response, { end: false });
  } catch (error) {
    stream.destroy();
    if (!response.destroyed) throw error;
    if (handed > 0 && handed < size_bytes) meter(handed);
    return handed;
  }
  if (handed === size_bytes) return handed;
  throw new Error(`${handed} bytes are stored, ${size_bytes} published`);
}

/** Throws when no bytes come, or when the viewer has left. */
async function untilReadable(stream: Readable, response: Exchange['response']): Promise<void> {
  const settled = new AbortController();
  const { signal } = settled;
  const over = [finished(stream, { signal }), finished(response, { signal })];
  // A listener left in place would keep the stream from flowing.
  await Promise.race([once(stream, 'readable', { signal }), ...over]).finally(() =>
    settled.abort(),
  );
  if (stream.readableLength === 0) throw new Error('a published image is stored without a byte');
}

export function answerNotModified(
  { response }: Exchange,
  image: ServedImage,
  meter: MeterDelivery,
): DeliveryResult {
  response.writeHead(304, { ...notModifiedHeaders(image) });
  meter(0);
  response.end();
  return { source: 'not_modified', bytes: 0 };
}

/** The status that other servers log when the client closed the connection before the response. */
const CLIENT_CLOSED_REQUEST = 499;

export function markClientClosed({ response }: Exchange): DeliveryResult {
  response.statusCode = CLIENT_CLOSED_REQUEST;
  return NOTHING;
}

export function answerPreflight({ response }: Exchange): DeliveryResult {
  response.writeHead(204, { ...preflightHeaders() }).end();
  return NOTHING;
}

export function answerRefusal(
  { request, response, baseUrl }: Exchange,
  code: DeliveryErrorCode,
  retry_after_seconds?: number,
): DeliveryResult {
  const { status, message } = deliveryErrors[code];
  const body = JSON.stringify(errorEnvelope({ code, message }));
  const help = baseUrl && printHelpLink(baseUrl, code);
  response.writeHead(status, {
    ...refusalHeaders({ retry_after_seconds, help }),
    'content-length': Buffer.byteLength(body),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  return { ...NOTHING, code };
}
