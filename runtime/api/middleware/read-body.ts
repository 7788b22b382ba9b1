/**
 * Reads the raw bytes of a body, whatever its Content-Type, because signatures cover them. A compressed or too long
 * body is refused at once while the server drains the rest; common body readers wait for the end first, which lets a
 * client send for as long as it likes. Spec: Limits (request body).
 */
import type { NextFunction, Request, Response } from 'express';
import { ServiceError } from '../../core/errors.ts';

export function readBody(bytesMax: number) {
  return async function read(
    request: Request,
    _response: Response,
    next: NextFunction,
  ): Promise<void> {
    request.body = await bytesOf(request, bytesMax);
    next();
  };
}

async function bytesOf(request: Request, bytesMax: number): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': length } = request.headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('invalid_request', {
      message: 'Send the body without Content-Encoding.',
    });
  }
  if (Number(length ?? 0) > bytesMax) throw tooLong(bytesMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(request)) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLong(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
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
