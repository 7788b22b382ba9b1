/** Adapters of the upload handler for frameworks that do not accept fetch handlers directly. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { COMPLETE_BODY_BYTES_MAX } from '../../core/limits.ts';
import type { UploadHandler } from './upload-handler.ts';

/** For a Next route file: `export const { GET, POST } = nextHandlers(handler)`. */
export function nextHandlers(handler: UploadHandler): Record<'GET' | 'POST', UploadHandler> {
  return { GET: handler, POST: handler };
}

type ExpressRequest = IncomingMessage & { body?: unknown; originalUrl?: string };

/**
 * For express, connect and plain node:http: `app.all('/upload', expressHandler(handler))`. Never
 * rejects: plain node:http and older frameworks do not catch rejections, and any visitor could
 * crash the server.
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

/** Throws if the visitor disconnects midway or sends an invalid request. */
async function asRequest(incoming: ExpressRequest): Promise<Request> {
  const { method = 'GET', originalUrl = incoming.url ?? '/', headers } = incoming;
  // Concatenated, not resolved against a base: //other.example/upload must stay a path.
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

/** express.json() or express.raw() may already have read the body. */
async function bodyOf(incoming: ExpressRequest): Promise<Uint8Array<ArrayBuffer> | string> {
  const { body } = incoming;
  if (body === undefined) return bytesOf(incoming);
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Reads enough to tell that the body is too long, and drains the rest. */
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
