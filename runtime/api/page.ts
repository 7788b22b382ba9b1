/** Answers other than JSON: a page, an asset or an image, with its own headers, optionally compressed. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** What a handler returns for such an answer. */
export class Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** The same bytes compressed, or null. */
  readonly gzip: Uint8Array | null;

  constructor(page: { headers: Page['headers']; bytes: Uint8Array; gzip?: Uint8Array }) {
    this.headers = page.headers;
    this.bytes = page.bytes;
    this.gzip = page.gzip ?? null;
  }
}

const compress = promisify(gzip);

export async function compressedPage(page: Pick<Page, 'headers' | 'bytes'>): Promise<Page> {
  return new Page({ ...page, gzip: await compress(page.bytes) });
}

/** The bytes to send, compressed if the client accepts gzip; sets the response headers to match. */
export function codedBytes(
  { bytes, gzip }: Page,
  request: Request,
  response: Response,
): Uint8Array {
  if (gzip === null) return bytes;
  response.vary('accept-encoding');
  const isTaken = request.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isTaken) response.set('content-encoding', 'gzip');
  return isTaken ? gzip : bytes;
}
