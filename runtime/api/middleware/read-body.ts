/**
 * The bytes of a body as they were sent, whatever they are called: signatures are over them. What is compressed or too
 * long is refused at once, and the server reads the rest of it away: who waits for the end of a body first, as body
 * readers do, lets anybody send for as long as he likes. Spec: Limits (request body).
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
    // The connection is needed for the answer when we have had enough.
    yield* request.iterator({ destroyOnReturn: false });
  } catch (cause) {
    throw new ServiceError('invalid_request', {
      message: 'The body broke off. Send the request again, whole.',
      cause,
    });
  }
}

function tooLong(max_bytes: number): ServiceError {
  return new ServiceError('payload_too_large', { details: { max_bytes } });
}
