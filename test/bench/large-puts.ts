/** Sends large bodies to a signed URL of the service, completely or partially. */
import { type ClientRequest, request as sendRequest } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export const BODY_BYTES = 250_000_000;
const PIECE = Buffer.alloc(1_000_000, 7);

export async function putLarge(url: string): Promise<void> {
  const request = begin(url);
  const answered = new Promise<number>((resolve, reject) => {
    request.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('error', reject);
  });
  await pipeline(Readable.from(pieces(BODY_BYTES)), request);
  const status = await answered;
  if (status !== 204) throw new Error(`the proxy answered ${status}`);
}

/** Sends this share of the body, and then closes the connection. */
export async function abandonLarge(url: string, share: number): Promise<void> {
  const request = begin(url);
  request.on('error', () => undefined);
  const closed = new Promise((resolve) => request.once('close', resolve));
  const some = Readable.from(pieces(BODY_BYTES * share));
  await pipeline(some, request, { end: false });
  request.destroy();
  await closed;
}

function begin(url: string): ClientRequest {
  const headers = { 'content-type': 'image/png', 'content-length': BODY_BYTES };
  return sendRequest(url, { method: 'PUT', headers });
}

function* pieces(bytes: number): Generator<Buffer> {
  for (let sent = 0; sent < bytes; sent += PIECE.length) yield PIECE;
}
