/** What is answered that is no JSON: a page, a part of one or a picture, with headers of its own; compressed or not. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** What a handler returns then. */
export class Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** The same, compressed. */
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

/** What is sent of a page, compressed where that is taken, as the headers of the response say then. */
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
