/** The answer to one GET of one of our own addresses, as the public would see it. */
import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { onIncompleteResponse } from './on-incomplete-response.ts';

/** A longer body is cut to this length. */
const BODY_BYTES_MAX = 4096;

export type GotStatus = { status: number; headers: IncomingHttpHeaders; body: string };

/** Throws connection errors, and the signal's reason. */
export async function getStatus(url: URL, signal: AbortSignal): Promise<GotStatus> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    const { host, hostname, port, pathname: path } = url;
    // Resolvers do not know names below localhost; browsers and curl do.
    const place = hostname.endsWith('.localhost') ? { hostname: '127.0.0.1' } : { hostname };
    const options = { ...place, port, path, headers: { host }, agent: false, signal };
    const sent = request(options, (response) => {
      const { statusCode: status = 0, headers } = response;
      let read = Buffer.alloc(0);
      response
        .on('data', (piece: Buffer) => {
          if (read.length < BODY_BYTES_MAX) read = Buffer.concat([read, piece]);
        })
        .on('end', () => {
          const body = read.subarray(0, BODY_BYTES_MAX).toString();
          resolve({ status, headers, body });
        })
        .on('error', reject);
    });
    onIncompleteResponse(sent, reject);
    sent.end();
  });
}
