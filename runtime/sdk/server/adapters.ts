/** The upload handler in frameworks that do not take fetch handlers as they are. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { COMPLETE_BODY_BYTES_MAX } from '../../core/limits.ts';
import type { UploadHandler } from './upload-handler.ts';

/** For a route file of Next: `export const { GET, POST } = nextHandlers(handler)`. */
export function nextHandlers(handler: UploadHandler): Record<'GET' | 'POST', UploadHandler> {
  return { GET: handler, POST: handler };
}

type ExpressRequest = IncomingMessage & { body?: unknown; originalUrl?: string };

/**
 * For express, connect and plain node:http: `app.all('/upload', expressHandler(handler))`. Never rejects: plain node:http
 * and older frameworks catch nothing, and any visitor could end the server.
 */
export function expressHandler(
  handler: UploadHandler,
): (request: ExpressRequest, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const asked = await asRequest(request).catch(() => undefined);
    if (asked === undefined) return void response.destroy();
    const answer = await handler(asked);
    response.statusCode = answer.status;
    for (const [name, value] of answer.headers) response.setHeader(name, value);
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
}

/** Throws where the visitor left in the middle, or wrote what is no request. */
async function asRequest(incoming: ExpressRequest): Promise<Request> {
  const { method = 'GET', originalUrl = incoming.url ?? '/', headers } = incoming;
  // Put together, not resolved: //other.example/upload is a path here.
  const url = new URL(`http://${headers.host ?? 'localhost'}${originalUrl}`);
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value ?? []].flat()) sent.append(name, each);
  }
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(url, {
    method,
    headers: sent,
    body: hasBody ? await bodyOf(incoming) : null,
  });
}

/** express.json() may have read it before, or express.raw(). */
async function bodyOf(incoming: ExpressRequest): Promise<Uint8Array<ArrayBuffer> | string> {
  const { body } = incoming;
  if (body === undefined) return bytesOf(incoming);
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** As much of it as tells that it is too long; what is left is read away. */
async function bytesOf(incoming: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > COMPLETE_BODY_BYTES_MAX) break;
  }
  incoming.resume();
  return new Uint8Array(Buffer.concat(chunks));
}
