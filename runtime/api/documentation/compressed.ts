/** A file that is sent compressed to whoever takes that; compressed at its first request, and once. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

const compress = promisify(gzip);

export type SendCompressed = (request: Request, response: Response) => Promise<void>;

/** `read` is asked again where it failed. */
export function compressed(read: () => Promise<Uint8Array>): SendCompressed {
  let small: Promise<Buffer> | undefined;
  const smallBytes = () => {
    small ??= read().then(compress);
    small.catch(() => {
      small = undefined;
    });
    return small;
  };
  return async (request, response) => {
    response.vary('accept-encoding');
    const isSmall = request.acceptsEncodings('gzip') === 'gzip';
    if (isSmall) response.set('content-encoding', 'gzip');
    response.send(isSmall ? await smallBytes() : Buffer.from(await read()));
  };
}
