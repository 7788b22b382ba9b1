/**
 * Reads the raw bytes of a body, whatever its Content-Type, because signatures cover them. A compressed or too long
 * body is refused at once while the server drains the rest; common body readers wait for the end first, which lets a
 * client send for as long as it likes. Spec: Limits (request body).
 */
import type { NextFunction, Request, Response } from 'express';
import { ServiceError } from '../../core/errors.ts';
import { letContinue } from '../../platform/http/let-continue.ts';
import type { BodyRoom, Hold } from './body-room.ts';

/** Refuses a body by its head, before any of it is read. */
export function refuseUnread(bytesMax: number) {
  return function refuse({ headers }: Request, _response: Response, next: NextFunction): void {
    const { 'content-encoding': encoding = 'identity', 'content-length': length } = headers;
    if (encoding.toLowerCase() !== 'identity') {
      throw new ServiceError('invalid_request', {
        message: 'Send the body without Content-Encoding.',
      });
    }
    if (Number(length ?? 0) > bytesMax) throw tooLong(bytesMax);
    next();
  };
}

export function readBody(bytesMax: number, room: BodyRoom) {
  return async function read(
    request: Request,
    response: Response,
    next: NextFunction,
  ): Promise<void> {
    letContinue(request, response);
    request.body = await bytesOf(request, bytesMax, room.enter(response));
    next();
  };
}

/**
 * Copied into one growing buffer: a list of chunks, which may have a byte each, would take
 * many times as much memory.
 */
async function bytesOf(request: Request, bytesMax: number, hold: Hold): Promise<Buffer> {
  let read: Buffer = Buffer.alloc(0);
  let bytes = 0;
  for await (const chunk of chunksOf(request)) {
    const before = bytes;
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLong(bytesMax);
    hold(bytes);
    if (bytes > read.length) read = grown(read, Math.max(bytes, 2 * before));
    chunk.copy(read, before);
  }
  return read.subarray(0, bytes);
}

function grown(bytes: Buffer, length: number): Buffer {
  const longer = Buffer.allocUnsafe(length);
  bytes.copy(longer);
  return longer;
}

async function* chunksOf(request: Request): AsyncGenerator<Buffer> {
  try {
    // Keep the connection open after a refusal: the answer needs it.
    yield* request.iterator({ destroyOnReturn: false });
  } catch (cause) {
    throw new ServiceError('invalid_request', {
      message: 'The body ended too early. Send the whole request again.',
      cause,
    });
  }
}

function tooLong(max_bytes: number): ServiceError {
  return new ServiceError('payload_too_large', { details: { max_bytes } });
}
